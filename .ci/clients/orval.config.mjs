// Orval makes a client of axios unless it is told otherwise; its schemas of Zod are another one.
const input = './generated/openapi.json';

export default {
  axios: { input, output: './generated/orval/client.ts' },
  zod: { input, output: { client: 'zod', target: './generated/orval/schemas.ts' } },
};
