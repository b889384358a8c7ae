// The bundle of pages with charts.
export { draw } from './src/chart.mjs';
