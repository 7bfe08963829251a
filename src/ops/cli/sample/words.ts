/** Words of the sample data: those of a company that renovates homes. */

export const FIRST_NAMES = words(`
  Aaliyah Adam Aisha Alejandro Alice Amara Andre Angela Anthony Beatriz Benjamin Bianca Caleb Carlos
  Carmen Charlotte Chen Chloe Claire Daniel Daria David Deborah Diego Elena Eli Emily Emma Ethan Eva
  Fatima Felix Gabriel Grace Hannah Hassan Helen Henry Ines Isaac Isabella Jack Jamal James Jasmine
  Jonas Jordan Joseph Julia Kai Karen Kevin Laura Leah Leo Liam Linda Lucas Lucia Maria Mark Mateo
  Maya Mei Michael Mila Mohammed Naomi Nathan Nina Noah Nora Oliver Olivia Omar Oscar Patricia Paul
  Peter Priya Rachel Ravi Rebecca Robert Rosa Ruth Samuel Sara Sofia Stefan Susan Teresa Thomas Tomas
  Valentina Victor Wei William Yusuf Zoe`);

export const LAST_NAMES = words(`
  Abbott Adams Ahmed Ali Allen Alvarez Anderson Bailey Baker Barnes Bauer Bell Bennett Boyd Brooks
  Brown Bryant Campbell Carter Castillo Chang Chavez Clark Cohen Coleman Collins Cook Cooper Cruz
  Davis Diaz Edwards Evans Fischer Fisher Flores Foster Garcia Gibson Gomez Gonzalez Graham Grant
  Green Gupta Hall Hamilton Harris Hayes Henderson Hernandez Hill Howard Hughes Hunt Ivanov Jackson
  Jensen Johnson Jones Jordan Kaplan Kelly Kim King Kowalski Kumar Larsen Lee Lewis Lopez Marshall
  Martin Martinez Mason Meyer Miller Mitchell Moore Morales Morgan Morris Murphy Murray Myers Nelson
  Nguyen Novak Olson Ortiz Owens Palmer Park Parker Patel Perez Perry Peterson Phillips Powell Price
  Ramirez Reed Reyes Reynolds Rivera Roberts Robinson Rogers Rossi Ruiz Russell Ryan Sanchez Sanders
  Schmidt Scott Shah Simmons Singh Smith Stevens Stewart Stone Sullivan Suzuki Taylor Thomas Thompson
  Torres Tran Turner Vargas Walker Wallace Ward Watson Weber Wells West White Williams Wilson Wong
  Wood Wright Yamamoto Young Zhang`);

export const COMPANY_NAMES = words(`
  Alder Beacon Birch Bluebird Bridgeport Canyon Cedar Cobalt Compass Copper Cypress Eastgate Fairview
  Granite Harbor Hawthorn Highland Juniper Keystone Lakeside Lantern Maple Meridian Northside Oakmont
  Orchard Pinecrest Redwood Ridgeway Riverbend Sandstone Sequoia Silverline Stonegate Summit Sycamore
  Timberline Vista Westfield Willow`);

export const COMPANY_KINDS = words(
  'Architects Builders Cafe Clinic Consulting Dental Hotels Properties Realty School Studio Supply',
);

export const STREETS = words(`
  Birch Bridge Cedar Cherry Church Clover Coral Dogwood Elm Forest Garden Hickory Hillcrest Jefferson
  Lake Laurel Lincoln Magnolia Maple Mill Oak Orchard Park Pine Prospect River School Spring Sunset
  Valley Walnut Willow`);

export const STREET_KINDS = ['Street', 'Avenue', 'Drive', 'Lane', 'Road', 'Court'] as const;

/** City, state, zip code prefix, area code. */
export const CITIES = [
  ['Albuquerque', 'NM', '871', 505],
  ['Atlanta', 'GA', '303', 404],
  ['Austin', 'TX', '787', 512],
  ['Baltimore', 'MD', '212', 410],
  ['Boise', 'ID', '837', 208],
  ['Boston', 'MA', '021', 617],
  ['Charlotte', 'NC', '282', 704],
  ['Chicago', 'IL', '606', 312],
  ['Columbus', 'OH', '432', 614],
  ['Dallas', 'TX', '752', 214],
  ['Denver', 'CO', '802', 303],
  ['Detroit', 'MI', '482', 313],
  ['Houston', 'TX', '770', 713],
  ['Kansas City', 'MO', '641', 816],
  ['Las Vegas', 'NV', '891', 702],
  ['Miami', 'FL', '331', 305],
  ['Milwaukee', 'WI', '532', 414],
  ['Minneapolis', 'MN', '554', 612],
  ['Nashville', 'TN', '372', 615],
  ['New Orleans', 'LA', '701', 504],
  ['Oakland', 'CA', '946', 510],
  ['Philadelphia', 'PA', '191', 215],
  ['Phoenix', 'AZ', '850', 602],
  ['Portland', 'OR', '972', 503],
  ['Raleigh', 'NC', '276', 919],
  ['Sacramento', 'CA', '958', 916],
  ['San Diego', 'CA', '921', 619],
  ['Seattle', 'WA', '981', 206],
  ['Tampa', 'FL', '336', 813],
  ['Tucson', 'AZ', '857', 520],
] as const;

export const PROJECTS = [
  'roof',
  'kitchen',
  'bathroom',
  'solar',
  'windows',
  'deck',
  'heating',
] as const;

export const LEAD_NOTES = [
  'Asked for a call back in the evening.',
  'Compares three offers; wants to decide this month.',
  'Prefers e-mail. The dog is friendly.',
  'Neighbor of a customer of last year.',
  'Needs financing; send the leaflet.',
  'House from 1962, first renovation.',
] as const;

export const OUTCOMES = [
  'Offer accepted',
  'Offer sent',
  'Needs second visit',
  'Not interested',
] as const;

export const TASK_TITLES = [
  'Call back about the offer',
  'Send the revised offer',
  'Order material samples',
  'Check the measurements',
  'Ask for photos of the site',
  'Prepare the contract',
  'Schedule the installation',
  'Follow up after the visit',
] as const;

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
