// Series over time: lines or stacked bars, in the dashboard's own colours.
import uPlot from 'uplot';

/** The colours of series without one of their own, by their order; each is a variable of the stylesheet. */
const COLOURS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5', '--chart-6', '--chart-7', '--chart-8'];

/** Numbers and points in time as the reader's language has them; the English ones by 24 hours, as everywhere here. */
const LOCALE = document.documentElement.lang === 'en' ? 'en-GB' : document.documentElement.lang;
const DAY_S = 86_400;

const number = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });

/** Values on top of those of the series before. */
function stacked(values) {
  const sum = values[0]?.map(() => 0) ?? [];
  return values.map((series) => series.map((value, at) => (sum[at] += value ?? 0)));
}

/**
 * Draws a chart into an element. `options`: times (seconds), series [{label, values, colour?}], unit, stacked, utc.
 * `onRange(from, to)` is called with seconds when a range was dragged, `onPoint(time, series)` when a point was clicked.
 */
export function draw(parent, options, onRange, onPoint) {
  const { times, series, unit, stacked: isStacked, utc, height } = JSON.parse(options);
  const time = globalThis.toolgate?.translate?.('Time') ?? 'Time';
  const style = getComputedStyle(parent);
  const ink = (name) => style.getPropertyValue(name).trim();
  // A variable may be `light-dark(...)`, which a canvas does not know; the browser resolves it for an element.
  const colour = (name) => () => {
    const probe = parent.appendChild(document.createElement('span'));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const step = times.length > 1 ? times[1] - times[0] : 3600;
  const values = series.map((one) => one.values);
  // The highest of a stack is drawn first, and the others over it.
  const order = series.map((_, at) => at);
  if (isStacked) order.reverse();
  const tall = isStacked ? stacked(values) : values;
  const shown = (value) => (value == null ? '–' : `${number.format(value)}${unit ? ` ${unit}` : ''}`);
  const axis = {
    stroke: colour('--text-muted'),
    font: `12px ${ink('--sans') || 'sans-serif'}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  };
  // As wide as the longest text needs.
  const room = (_, texts) => 16 + 7 * Math.max(5, ...(texts ?? []).map((text) => text.length));
  let selected = false;
  const chart = new uPlot(
    {
      width: parent.clientWidth,
      height,
      padding: [8, 8, 0, 0],
      tzDate: (seconds) => (utc ? uPlot.tzDate(new Date(seconds * 1e3), 'UTC') : new Date(seconds * 1e3)),
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
      scales: {
        x: { range: (_, low, high) => (isStacked ? [low - step / 2, high + step / 2] : [low, Math.max(high, low + 1)]) },
        y: { range: (_, low, high) => [0, Math.max(high ?? 0, 1) * 1.05] },
      },
      axes: [{ ...axis, values: (_, splits, __, ___, step) => moments(splits, step, utc) }, { ...axis, size: room, values: (_, all) => all.map((value) => shown(value)) }],
      legend: { live: true },
      series: [
        { label: time, value: (_, seconds) => (seconds == null ? '–' : moment(seconds, utc)) },
        ...order.map((at) => {
          const ink = colour(series[at].colour ?? COLOURS[at % COLOURS.length]);
          return {
            label: series[at].label,
            stroke: ink,
            fill: isStacked ? ink : undefined,
            width: isStacked ? 0 : 2,
            paths: isStacked ? uPlot.paths.bars({ size: [0.8, 64] }) : undefined,
            points: { show: !isStacked && times.length < 80 },
            spanGaps: false,
            value: (_, __, ___, index) => shown(index == null ? null : series[at].values[index]),
          };
        }),
      ],
      hooks: {
        setSelect: [
          (chart) => {
            if (chart.select.width < 4) return;
            const at = (left) => Math.round(chart.posToVal(left, 'x'));
            selected = true;
            onRange(at(chart.select.left), at(chart.select.left + chart.select.width));
          },
        ],
      },
    },
    [times, ...order.map((at) => tall[at])],
    parent,
  );
  // The drawing says nothing to who cannot see it; the table beside it does.
  chart.root.querySelector('canvas').setAttribute('aria-hidden', 'true');
  const click = () => {
    if (selected) {
      selected = false;
      return;
    }
    const index = chart.cursor.idx;
    if (index == null) return;
    const height = chart.posToVal(chart.cursor.top, 'y');
    const nearest = isStacked
      ? series.findIndex((_, at) => height <= tall[at][index])
      : closest(series, index, height);
    if (nearest >= 0) onPoint(times[index], nearest);
  };
  chart.over.addEventListener('click', click);
  const sizes = new ResizeObserver(() => {
    if (parent.clientWidth > 0 && parent.clientWidth !== chart.width) {
      chart.setSize({ width: parent.clientWidth, height });
    }
  });
  sizes.observe(parent);
  const redraw = () => chart.redraw(false);
  const themes = new MutationObserver(redraw);
  themes.observe(document.documentElement, { attributes: true });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', redraw);
  return {
    destroy() {
      sizes.disconnect();
      themes.disconnect();
      system.removeEventListener('change', redraw);
      chart.destroy();
    },
  };
}

/** What the axis says: the time of day, with the day where it begins; days; months. */
function moments(splits, step, utc) {
  const written = (parts) => {
    const format = new Intl.DateTimeFormat(LOCALE, { ...parts, timeZone: utc ? 'UTC' : undefined });
    return (seconds) => format.format(new Date(seconds * 1e3));
  };
  if (step >= 28 * DAY_S) return splits.map(written({ month: 'short', year: 'numeric' }));
  const days = splits.map(written({ day: 'numeric', month: 'short' }));
  if (step >= DAY_S) return days;
  const second = step < 60 ? '2-digit' : undefined;
  const times = splits.map(written({ hour: '2-digit', minute: '2-digit', second }));
  return times.map((time, at) => (days[at] === days[at - 1] ? time : `${time}\n${days[at]}`));
}

function closest(series, index, height) {
  let best = -1;
  let least = Infinity;
  series.forEach(({ values }, at) => {
    if (values[index] == null) return;
    const far = Math.abs(values[index] - height);
    if (far < least) [best, least] = [at, far];
  });
  return best;
}

function moment(seconds, utc) {
  return new Date(seconds * 1e3).toLocaleString(LOCALE, {
    timeZone: utc ? 'UTC' : undefined,
    dateStyle: 'medium',
    timeStyle: 'short',
  });
}
