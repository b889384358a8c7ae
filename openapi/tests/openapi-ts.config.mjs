// How the TypeScript client is generated; the document is in the environment.
export default {
  input: process.env.TOOLGATE_DOCUMENT,
  output: { path: 'generated', importFileExtension: '.js', clean: true },
  plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
};
