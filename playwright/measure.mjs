// Prints how heavy and how fast the dashboard is, and fails when an aim is missed. This is no test: the figures depend on
// the machine, so they are taken by hand on one that is idle.
import { DESKTOP, launch, settled, signedIn } from './support/browser.mjs';
import { uploadMany, LARGE_HOSTS } from './support/large.mjs';
import { Server, TOOLS } from './support/server.mjs';
import { longest, median, painted, slowed, taken } from './support/speed.mjs';
import { inWords, traced } from './support/trace.mjs';
import { weights } from './support/weight.mjs';

/** How often each thing is measured; the figure is the middle one. */
const TIMES = Number(process.env.TIMES ?? 5);
/** Whether each interaction is shown task by task, with what it went on. Tracing costs time: the figures are higher then. */
const TRACE = Boolean(process.env.TRACE);
/** Tools in the large project. */
const LARGE = Number(process.env.LARGE ?? 10_000);

const AIMS = { wasm: 450_000, js: 25_000, css: 20_000, paint: 1500, shift: 0.02, interaction: 100, palette: 100, task: 50 };
const missed = [];

/** Prints a figure beside its aim. */
function tell(what, value, aim, unit, more = '') {
  const isKept = value <= aim;
  if (!isKept) missed.push(what);
  const shown = unit === '' ? value.toFixed(4) : String(Math.round(value));
  console.log(`${isKept ? '  ok  ' : 'MISSED'}  ${what.padEnd(46)} ${shown.padStart(8)} of ${aim} ${unit}  ${more}`);
}

const BIG = '/ui/projects/large';
const PAGES = {
  overview: `${BIG}/overview`,
  tools: `${BIG}/tools`,
  'one tool': `${BIG}/tools/find-crm-00042`,
  definition: `${BIG}/tools/find-crm-00042?tab=definition`,
  upload: `${BIG}/upload`,
  groups: `${BIG}/groups`,
  states: `${BIG}/states`,
  permissions: `${BIG}/permissions`,
  simulator: `${BIG}/simulator?group=*`,
  records: `${BIG}/records`,
  sessions: `${BIG}/sessions`,
  keys: `${BIG}/keys`,
  health: '/ui/health',
};

/**
 * Presses something as a hand does: where it is was found out before, and nothing of this script runs in the page then.
 * A locator's own click asks the page what lies at that place while it handles the press.
 */
async function press(locator) {
  await locator.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await locator.boundingBox();
  const mouse = locator.page().mouse;
  await mouse.move(x + width / 2, y + height / 2);
  await painted(locator.page());
  await taken(locator.page());
  await mouse.click(x + width / 2, y + height / 2);
}

/** The box of the palette; choices of filters are comboboxes too. */
const box = (page) => page.getByRole('combobox', { name: /^Search for/ });

/** Things that people do, each on a page, and how one sees that it is done. */
const INTERACTIONS = [
  ['open the palette', 'tools', (page) => page.keyboard.press('Control+k'), (page) => box(page).waitFor()],
  ['type into the palette', null, (page) => page.keyboard.type('find-crm-00042'), (page) => page.getByRole('option', { name: /^find-crm-00042\s*Tool/ }).first().waitFor()],
  ['next entry of the palette', null, (page) => page.keyboard.press('ArrowDown')],
  ['close the palette', null, (page) => page.keyboard.press('Escape'), (page) => box(page).waitFor({ state: 'hidden' })],
  ['search the tools', 'tools', async (page) => { await page.keyboard.press('/'); await page.keyboard.type('mail'); }, (page) => page.waitForURL('**q=mail*')],
  ['open a tool', 'tools', (page) => press(page.locator('.tool-name').first()), (page) => page.waitForURL('**/tools/*')],
  ['switch to its definition', null, (page) => press(page.getByText('Definition', { exact: true }).first()), settled],
  ['back to the list', null, (page) => press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tools' })), settled],
  ['from page to page', 'overview', (page) => press(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Groups' })), settled],
  ['the menu of projects', 'records', (page) => press(page.getByRole('button', { name: /switch project$/ }))],
  ['the menu of the account', 'records', (page) => press(page.getByRole('button', { name: /account$/ }))],
  ['another theme', null, (page) => press(page.getByRole('radio', { name: 'Dark' }))],
  ['type into the editor', 'upload', async (page) => { await page.getByLabel('Definitions').fill(TOOLS); await page.getByLabel('Definitions').press('End'); await page.keyboard.type('# a note'); }],
  ['open a record', 'records', (page) => press(page.getByRole('rowheader').getByRole('button').first()), (page) => page.getByRole('dialog').getByText('Outcome').waitFor()],
  ['close the record', null, (page) => page.keyboard.press('Escape')],
  ['choose a state', 'states', (page) => press(page.getByRole('button', { name: /^review/ }).first())],
  ['a new key', 'keys', (page) => press(page.getByRole('button', { name: 'New key' })), (page) => page.getByRole('dialog').getByLabel('Name').waitFor()],
  ['name the key', null, (page) => page.getByRole('dialog').getByLabel('Name').pressSequentially('research')],
  ['why a tool is refused', 'simulator', (page) => press(page.locator('summary').first())],
];

async function measureWeights({ server }) {
  for (const [kind, total] of Object.entries(await weights(server.origin))) {
    if (kind in AIMS) tell(`weight of ${kind}`, total, AIMS[kind], 'bytes');
  }
}

async function measurePages({ browser, server, session }) {
  const pages = { 'sign-in': '/ui/sign-in', ...PAGES };
  for (const [name, path] of Object.entries(pages)) {
    const paints = [];
    const shifts = [];
    const tasks = [];
    for (let time = 0; time < TIMES; time += 1) {
      const storageState = name === 'sign-in' ? undefined : session;
      const profile = await browser.newContext({ viewport: DESKTOP, baseURL: server.origin, storageState });
      const page = await slowed(profile);
      await page.goto(path);
      await settled(page);
      await page.waitForFunction(() => window.speed.paint > 0);
      const { paint, shift, tasks: long } = await taken(page);
      paints.push(paint);
      shifts.push(shift);
      tasks.push(longest(long));
      await profile.close();
    }
    tell(`largest paint: ${name}`, median(paints), AIMS.paint, 'ms', `longest task ${Math.round(median(tasks))} ms`);
    tell(`layout shift: ${name}`, median(shifts), AIMS.shift, '');
  }
}

async function measureInteractions({ browser, server, session }) {
  const found = new Map(INTERACTIONS.map(([name]) => [name, { latencies: [], frames: [] }]));
  for (let time = 0; time < TIMES; time += 1) {
    const profile = await browser.newContext({ viewport: DESKTOP, baseURL: server.origin, storageState: session });
    profile.setDefaultTimeout(20_000);
    const page = await slowed(profile);
    for (const [name, on, act, done] of INTERACTIONS) {
      if (on) {
        await page.goto(PAGES[on]);
        await settled(page);
      }
      await taken(page);
      if (TRACE) {
        const tasks = await traced(browser, page, () => act(page).then(() => painted(page)));
        console.log(`        ${name}: ${tasks.slice(0, 3).map(inWords).join(' | ')}`);
      } else {
        await act(page);
      }
      // Asking whether it is done keeps the page busy, so the answer is painted first.
      await painted(page);
      await done?.(page);
      const { events, frames } = await taken(page);
      found.get(name).latencies.push(longest(events));
      found.get(name).frames.push(...frames);
    }
    await profile.close();
  }
  for (const [name, { latencies, frames }] of found) {
    const aim = name === 'open the palette' ? AIMS.palette : AIMS.interaction;
    tell(`interaction: ${name}`, median(latencies), aim, 'ms', worst(frames));
  }
}

/** What the slowest frame was busy with. */
function worst(frames) {
  const frame = frames.sort((one, other) => other.ms - one.ms)[0];
  if (!frame) return '';
  const scripts = frame.scripts.map(({ what, ms, layout }) => `${what} ${Math.round(ms)} (layout ${Math.round(layout)})`);
  return `slowest frame ${Math.round(frame.ms)}: ${scripts.join(', ')}; style and layout ${Math.round(frame.style)}`;
}

/** How far one scrolls at a stretch, in pixels, how fast in pixels a second, and from where: parts of the whole list. */
const STRETCH = 16_000;
const PACE = 8000;
const PLACES = [0, 0.1, 0.5, 0.9, 0.2];

async function measureScroll({ browser, server, session }) {
  const profile = await browser.newContext({ viewport: DESKTOP, baseURL: server.origin, storageState: session });
  profile.setDefaultTimeout(120_000);
  const page = await slowed(profile);
  await page.goto(PAGES.tools);
  await settled(page);
  await taken(page);
  const hand = await profile.newCDPSession(page);
  for (const place of PLACES) {
    await page.evaluate((part) => {
      const room = document.scrollingElement;
      room.scrollTop = part * (room.scrollHeight - room.clientHeight);
    }, place);
    await page.waitForFunction(() => !document.querySelector('.long-waiting'));
    const jump = await taken(page);
    await hand.send('Input.synthesizeScrollGesture', { x: 640, y: 500, yDistance: -STRETCH, speed: PACE });
    await page.waitForFunction(() => !document.querySelector('.long-waiting'));
    const stretch = await taken(page);
    const where = `at ${Math.round(place * 100)} % of the list`;
    const count = ({ tasks }) => `${tasks.filter((task) => task.ms > AIMS.task).length} long tasks`;
    tell(`longest task after a jump ${where}`, longest(jump.tasks), AIMS.task, 'ms', `${count(jump)}; ${worst(jump.frames)}`);
    tell(`longest task while scrolling ${where}`, longest(stretch.tasks), AIMS.task, 'ms', `${count(stretch)}; ${worst(stretch.frames)}`);
  }
  await profile.close();
}

const server = await Server.start({ TOOLGATE_EGRESS_ALLOW: LARGE_HOSTS.join(',') });
const browser = await launch();
try {
  await server.signIn();
  await server.createProject('large', 'Large');
  await uploadMany(server, 'large', LARGE);
  const key = await server.createKey('large', 'agent', ['crm']);
  for (let at = 0; at < 60; at += 1) {
    await server.call('large', key.secret, { tool: 'find-crm-00042', group: ['crm'], state: 'published', arguments: { id: 'x' } });
  }
  const session = await signedIn(browser, server.origin);
  const parts = { weights: measureWeights, pages: measurePages, interactions: measureInteractions, scroll: measureScroll };
  const wanted = process.argv.slice(2);
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n${name}`);
    await measure({ browser, server, session });
  }
} finally {
  await browser.close();
  await server.stop();
}
if (missed.length > 0) {
  console.log(`\n${missed.length} aims missed: ${missed.join('; ')}`);
  process.exitCode = 1;
}
