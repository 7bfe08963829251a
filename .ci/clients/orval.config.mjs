// By default, orval generates an axios client. The Zod schemas are a separate output.
const input = './generated/openapi.json';

export default {
  axios: { input, output: './generated/orval/client.ts' },
  zod: { input, output: { client: 'zod', target: './generated/orval/schemas.ts' } },
};
