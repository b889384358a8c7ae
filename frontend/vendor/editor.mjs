// The bundle of pages with editors and differences.
export { compare } from './src/difference.mjs';
export { mount } from './src/editor.mjs';
