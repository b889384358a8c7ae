// Starts the WebAssembly module. Anything that stops it is shown on the page instead of leaving it blank.
import init from './app.js';

// What comes from kept packages (`vendor/`), loaded where it is first used.
globalThis.toolgate = {
  editor: () => import('./vendor/editor.js'),
  charts: () => import('./vendor/charts.js'),
  translate: (text) => translated(text),
};

// The languages besides English, which is in the code.
const catalogues = { de: './languages/de.json' };

// What was chosen in the profile, else the first of the browser's languages that there is.
function language() {
  let chosen;
  try {
    chosen = localStorage.getItem('toolgate.language');
  } catch {
    // Storage may be blocked; the browser's languages apply then.
  }
  const wanted = chosen ? [chosen] : navigator.languages.map((tag) => tag.split('-')[0]);
  return wanted.find((tag) => tag === 'en' || tag in catalogues) ?? 'en';
}

let texts = {};
const translated = (text) => texts[text] ?? text;

// Loads the catalogue of a language, and translates what the server has rendered already.
async function speak(tag) {
  const answer = await fetch(new URL(catalogues[tag], import.meta.url));
  if (!answer.ok) throw new Error(`the catalogue of ${tag} answers ${answer.status}`);
  const catalogue = await answer.text();
  texts = JSON.parse(catalogue);
  globalThis.toolgate.texts = catalogue;
  document.documentElement.lang = tag;
  for (const element of document.querySelectorAll('[data-translate]')) {
    element.textContent = translated(element.textContent);
  }
}

const notice = document.getElementById('boot-notice');

function show(text) {
  notice.querySelector('[data-text]').textContent = translated(text);
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

// Both are fetched at once; the module starts when it can speak. Without its catalogue it speaks English.
const module = fetch(new URL('./app_bg.wasm', import.meta.url));
const tag = language();
if (tag !== 'en') await speak(tag).catch(console.info);
try {
  await init({ module_or_path: module });
} catch (error) {
  console.error(error);
  show('The dashboard could not be loaded. Check the connection and that the browser permits WebAssembly.');
}
