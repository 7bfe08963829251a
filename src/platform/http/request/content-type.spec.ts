import { isJsonContentType } from './content-type.js';

describe('isJsonContentType', () => {
  it.each([
    'application/json',
    'Application/JSON',
    ' application/json ',
    'application/json;charset=utf-8',
    'application/json; charset=utf-8',
    'application/json ; charset=UTF-8',
    'application/json; charset=utf8',
    'application/json; charset="UTF8"',
    'application/json;\tCharset="Utf-8"',
    'application/json; charset="\\u\\tf-8"',
    'application/json; charset=utf-8; charset=UTF-8',
    'application/json; profile="https://example.com/a;charset=latin1"',
    'application/json; profile="\\";charset=latin1"; charset=utf-8',
    'application/json; odata=verbose; charset=utf-8',
    'application/json;',
    'application/json; ; charset=utf-8;',
  ])('accepts %j', (header) => {
    expect(isJsonContentType(header)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'json',
    'text/json',
    'text/plain',
    'application/jsonp',
    'application/json5',
    'application/x-json',
    'application/problem+json',
    'application/vnd.api+json',
    'application/json+x',
    'application/json, application/json',
    'application/json application/json',
    'application/ json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=us-ascii',
    'application/json; charset=iso-8859-1',
    'application/json; charset=',
    'application/json; charset=""',
    "application/json; charset='utf-8'",
    'application/json; charset="utf-8',
    'application/json; charset= utf-8',
    'application/json; charset',
    'application/json; charset=utf-8, latin1',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset=utf-8 x',
    'application/json; a=b; charset=utf-7',
    'application/json charset=utf-8',
    `application/json; a="${'\\'.repeat(50)}`,
  ])('rejects %j', (header) => {
    expect(isJsonContentType(header)).toBe(false);
  });

  it.each(['application/json' + ';'.repeat(64_000), `application/json${'; a="'.repeat(12_000)}`])(
    'stays quick on a long header',
    (header) => {
      // CPU time does not depend on the load of the machine.
      const start = process.cpuUsage();
      isJsonContentType(header);
      expect(process.cpuUsage(start).user / 1_000).toBeLessThan(2_000);
    },
  );

  it('refuses a header of more than 1,024 characters', () => {
    const longest = `application/json${';'.repeat(1_008)}`;
    expect(isJsonContentType(longest)).toBe(true);
    expect(isJsonContentType(`${longest};`)).toBe(false);
  });
});
