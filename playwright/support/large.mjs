// A project of the size that large organisations have.

const GROUPS = ['billing', 'calendar', 'crm', 'documents', 'knowledge', 'mail', 'maps', 'research', 'storage', 'tickets'];
const VERBS = ['archive', 'create', 'delete', 'export', 'find', 'import', 'list', 'read', 'share', 'update'];
const STATES = ['draft', 'review', 'approved', 'published'];
/** Where its tools lead; a server must permit them. No call of them succeeds. */
export const LARGE_HOSTS = GROUPS.map((group) => `https://${group}.example`);
/** Definitions in one upload; well below the limit of its size. */
const BATCH = 500;

/** Uploads `count` tools with short schemas, spread over groups and states. */
export async function uploadMany(server, project, count) {
  for (let start = 0; start < count; start += BATCH) {
    const names = Array.from({ length: Math.min(BATCH, count - start) }, (_, at) => definition(start + at));
    await server.uploadTools(project, names.join('---\n'));
  }
}

function definition(at) {
  const group = GROUPS[at % GROUPS.length];
  const verb = VERBS[Math.floor(at / GROUPS.length) % VERBS.length];
  const from = STATES[at % STATES.length];
  const to = STATES[(at + 1) % STATES.length];
  const number = String(at).padStart(5, '0');
  return `name: ${verb}-${group}-${number}
type: openapi
description: ${verb} entry ${number} of ${group}, for agents that work with it.
group: [${group}]
available_in_states: [${from}]
${at % 50 === 0 ? `state: ${to}\n` : ''}parameters: {type: object, properties: {id: {type: string}, note: {type: string}}, required: [id]}
options: {http: {base_url: "https://${group}.example", path: "/${verb}/{id}"}}
`;
}
