// Answers that a page gets in place of the server's, to see what it does with bad ones and late ones.

const REQUEST_ID = '0199f7c2-5a8e-7c31-b7f8-0c5b2f6a9e11';

/** Everything that pages ask for, except who is signed in, without which there is no page. */
const isAsked = (url) => !url.pathname.startsWith('/ui') && url.pathname !== '/auth/me';

/** Refuses everything that the page asks for. Returns how to stop that. */
export async function refuseAll(page) {
  const refuse = (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'urn:toolgate:problem:internal',
        title: 'The server failed',
        status: 500,
        detail: 'The database does not answer. The server has written down why.',
        code: 'internal',
        retryable: true,
        request_id: REQUEST_ID,
      }),
    });
  await page.route(isAsked, refuse);
  return () => page.unroute(isAsked, refuse);
}
refuseAll.requestId = REQUEST_ID;

/** Holds every answer back. Returns how to let them go. */
export async function holdAll(page) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const asked = [];
  const hold = (route) => {
    const answered = held.then(() => route.continue());
    asked.push(answered);
    return answered;
  };
  await page.route(isAsked, hold);
  return async () => {
    release();
    await Promise.all(asked);
    await page.unroute(isAsked, hold);
  };
}
