// What every file of stories begins and ends with: a server with something in it, a browser, and a user who is signed in.
import { after, before, test } from 'node:test';

import { Visitor, launch, signedIn, visit } from './browser.mjs';
import { picturedOnFailure } from './pictures.mjs';
import { startLively } from './seed.mjs';

/**
 * Sets the stage for the stories of a file. `story(name, run)` is a test in a window of its own, in which the
 * administrator is signed in; `run` gets the page and the window's profile. Options for the window may come between.
 * `inOneWindow(options)` gives another `story`, whose tests share a window: for many short ones.
 */
export function setStage(start = startLively) {
  const stage = { story, inOneWindow };
  before(async () => {
    Object.assign(stage, await start());
    stage.browser = await launch();
    stage.session = await signedIn(stage.browser, stage.server.origin);
  });
  after(async () => {
    await stage.browser?.close();
    await stage.stop?.();
  });

  function story(name, ...rest) {
    const run = rest.pop();
    const [options = {}] = rest;
    test(name, () =>
      visit(stage.browser, stage.server.origin, { storageState: stage.session, ...options }, (page, profile) =>
        picturedOnFailure(page, name, () => run(page, profile)),
      ),
    );
  }

  function inOneWindow(options) {
    let visitor;
    return (name, run) =>
      test(name, async () => {
        visitor ??= await Visitor.enter(stage.browser, stage.server.origin, { storageState: stage.session, ...options });
        try {
          await picturedOnFailure(visitor.page, name, () => run(visitor.page));
          visitor.assertClean();
        } finally {
          await visitor.page.unrouteAll({ behavior: 'ignoreErrors' });
          visitor.faults.length = 0;
        }
      });
  }
  return stage;
}
