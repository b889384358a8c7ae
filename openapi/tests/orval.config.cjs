// How orval generates the client of a project's tools; the document is in the environment.
module.exports = {
  tools: {
    input: process.env.TOOLGATE_DOCUMENT,
    output: { target: 'generated/tools.ts', client: 'fetch', mode: 'single', clean: true },
  },
};
