// Starts the WebAssembly module. Anything that stops it is shown on the page instead of leaving it blank.
import init from './app.js';

// What comes from kept packages (`vendor/`), loaded where it is first used.
globalThis.toolgate = {
  editor: () => import('./vendor/editor.js'),
  charts: () => import('./vendor/charts.js'),
};

const notice = document.getElementById('boot-notice');

function show(text) {
  notice.querySelector('[data-text]').textContent = text;
  notice.hidden = false;
}

notice.querySelector('[data-reload]').addEventListener('click', () => location.reload());

// A panic in the module ends in a RuntimeError, after which the page no longer reacts.
function onError(error) {
  if (error instanceof WebAssembly.RuntimeError) {
    show('The dashboard stopped because of an internal error. Nothing that the server has confirmed is lost.');
  }
}
addEventListener('error', (event) => onError(event.error));
addEventListener('unhandledrejection', (event) => onError(event.reason));

try {
  await init({ module_or_path: new URL('./app_bg.wasm', import.meta.url) });
} catch (error) {
  console.error(error);
  show('The dashboard could not be loaded. Check the connection and that the browser permits WebAssembly.');
}
