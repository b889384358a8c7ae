// People besides the administrator: users with a role in the project `demo`.
import { signedIn } from './browser.mjs';

const PASSWORD = 'a quiet river at noon';

/** Makes a user with a role and groups in `demo`; the answer has what it takes to sign in, and its principal. */
export async function member(server, username, role, groups = ['knowledge']) {
  const { principal, id } = await server.post('/users', { username, password: PASSWORD });
  const grant = { role, groups: groups.map((group) => ({ group })) };
  await server.put(`/projects/demo/permissions/${encodeURIComponent(principal)}`, grant, { 'if-none-match': '*' });
  return { username, password: PASSWORD, principal, id };
}

/** The same, and the state of a window in which the user is signed in. */
export async function signedInMember(stage, username, role, groups) {
  const person = await member(stage.server, username, role, groups);
  return { person, storageState: await signedIn(stage.browser, stage.server.origin, person) };
}
