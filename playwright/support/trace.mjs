// What a page's main thread was busy with, by the browser's own trace.

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8', 'disabled-by-default-v8.gc', 'toplevel'];

/** What the names of the trace's events stand for, in this order; what none of them names is `other`. */
const KINDS = {
  collection: /GC|HeapProfiler/,
  style: /^(UpdateLayoutTree|RecalculateStyles|ParseAuthorStyleSheet|.*StyleInvalidat.*)$/,
  layout: /^(Layout|HitTest|IntersectionObserver.*|.*ScrollableArea.*)$/,
  paint: /^(PrePaint|Paint.*|UpdateLayer.*|Layerize|Commit|Compositing.*|.*Raster.*)$/,
  script: /^(EvaluateScript|FunctionCall|EventDispatch|FireAnimationFrame|TimerFire|RunMicrotasks|v8\..*|V8\..*|Wasm.*|XHR.*)$/,
};

/** Runs `story` and returns the tasks of the page's main thread, the longest first: `ms`, and by kind what they went on. */
export async function traced(browser, page, story) {
  await browser.startTracing(page, { categories: CATEGORIES });
  await story();
  const trace = JSON.parse(await browser.stopTracing());
  return tasks(mainThread(trace.traceEvents)).sort((one, other) => other.ms - one.ms);
}

/** Tells of a task what it went on. */
export function inWords({ ms, parts }) {
  const named = Object.entries(parts).filter(([, part]) => part >= 1);
  const sorted = named.sort(([, one], [, other]) => other - one);
  return `${Math.round(ms)} ms: ${sorted.map(([kind, part]) => `${kind} ${Math.round(part)}`).join(', ')}`;
}

/** The complete events of the busiest main thread: the one of the page that is looked at. */
function mainThread(events) {
  const threads = new Map();
  for (const { ph, name, args, pid, tid } of events) {
    if (ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain') threads.set(`${pid}:${tid}`, []);
  }
  for (const event of events) {
    if (event.ph === 'X') threads.get(`${event.pid}:${event.tid}`)?.push(event);
  }
  const busy = (thread) => thread.reduce((sum, event) => sum + (event.name.endsWith('RunTask') ? event.dur : 0), 0);
  return [...threads.values()].sort((one, other) => busy(other) - busy(one))[0] ?? [];
}

/** The tasks among nested events, each with the time that its parts took themselves. */
function tasks(events) {
  const found = [];
  const open = [];
  const close = (until) => {
    while (open.length > 0 && open.at(-1).end <= until) {
      const { event, own, task } = open.pop();
      const kind = Object.keys(KINDS).find((kind) => KINDS[kind].test(event.name)) ?? 'other';
      if (task) task.parts[kind] = (task.parts[kind] ?? 0) + own / 1000;
    }
  };
  for (const event of events.sort((one, other) => one.ts - other.ts || other.dur - one.dur)) {
    close(event.ts);
    let task = open.at(-1)?.task;
    if (!task && event.name.endsWith('RunTask')) {
      task = { at: event.ts / 1000, ms: event.dur / 1000, parts: {} };
      found.push(task);
    }
    if (open.length > 0) open.at(-1).own -= event.dur;
    open.push({ event, task, end: event.ts + event.dur, own: event.dur });
  }
  close(Infinity);
  return found;
}
