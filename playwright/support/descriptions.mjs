// Descriptions of APIs, as users import them.

/**
 * A small pet store at an address. `get` and `list` are what it says of two operations; `withLimit` gives one of them a
 * further parameter.
 */
export function petstore(
  origin,
  { title = 'Petstore', version = '1', tag = 'pets', get = 'Get a pet', list = 'List all pets', withLimit = false } = {},
) {
  const limit = { name: 'limit', in: 'query', description: 'How many at most', schema: { type: 'integer' } };
  const petId = { name: 'petId', in: 'path', required: true, description: 'Which one', schema: { type: 'string' } };
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title, version },
    servers: [{ url: origin }],
    security: [{ petKey: [] }, {}],
    paths: {
      '/pets': {
        get: { operationId: 'listPets', tags: [tag], summary: list, parameters: withLimit ? [limit] : [] },
        post: {
          operationId: 'addPet',
          tags: [tag, 'changes'],
          summary: 'Add a pet',
          requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } } },
        },
      },
      '/pets/{petId}': { get: { operationId: 'getPet', tags: [tag], summary: get, parameters: [petId] } },
      '/photos': {
        post: { operationId: 'addPhotos', tags: ['photos'], requestBody: { required: true, content: { 'multipart/mixed': {} } } },
      },
    },
    components: { securitySchemes: { petKey: { type: 'apiKey', in: 'header', name: 'X-Pet-Key' } } },
  });
}
