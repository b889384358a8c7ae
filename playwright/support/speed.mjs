// What the browser itself measures: paints, shifts, interactions and long tasks.

/** How much slower than this machine's the processor of the measured page is. */
const SLOW_DOWN = 4;

/** Makes a page as slow as a weak laptop, and collects what its browser measures from the first moment on. */
export async function slowed(profile) {
  await profile.addInitScript(collect);
  const page = await profile.newPage();
  const session = await profile.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOW_DOWN });
  return page;
}

/** Runs inside the page, before anything else. */
function collect() {
  const all = { paint: 0, shift: 0, events: [], tasks: [], frames: [] };
  const each = (type, take, options = {}) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true, ...options });
  each('largest-contentful-paint', (entry) => (all.paint = entry.startTime));
  each('layout-shift', (entry) => (all.shift += entry.hadRecentInput ? 0 : entry.value));
  each(
    'event',
    (entry) => {
      if (entry.interactionId) {
        all.events.push({ id: entry.interactionId, type: entry.name, ms: entry.duration });
      }
    },
    { durationThreshold: 16 },
  );
  each('longtask', (entry) => all.tasks.push({ at: entry.startTime, ms: entry.duration }));
  each('long-animation-frame', (entry) =>
    all.frames.push({
      ms: entry.duration,
      scripts: entry.scripts.map((script) => ({
        what: script.invoker,
        ms: script.duration,
        layout: script.forcedStyleAndLayoutDuration,
      })),
      style: entry.startTime + entry.duration - entry.styleAndLayoutStart,
    }),
  );
  window.speed = all;
}

/** Waits until what was asked for is on the screen, and everything about it was reported. */
export function painted(page) {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))),
  );
}

/** What was measured since the last time it was taken; the paint and the shift are those of the whole page. */
export async function taken(page) {
  await painted(page);
  return page.evaluate(() => {
    const { paint, shift, events, tasks, frames } = window.speed;
    Object.assign(window.speed, { events: [], tasks: [], frames: [] });
    return { paint, shift, events, tasks, frames };
  });
}

/** The longest of some things that took time. */
export function longest(entries) {
  return Math.max(0, ...entries.map((entry) => entry.ms));
}

/** The middle of some figures. */
export function median(figures) {
  return [...figures].sort((one, other) => one - other)[Math.floor(figures.length / 2)];
}
