// Styles that the page's policy permits. CodeMirror writes its rules into a `<style>` of the document, which
// `style-src 'self'` refuses; into a shadow root it puts a constructed stylesheet, which the policy does not concern. The
// document is shown to it like a shadow root.
import { StyleModule as Original } from '../node_modules/style-mod/src/style-mod.js';

const page = {
  ownerDocument: document,
  get adoptedStyleSheets() {
    return document.adoptedStyleSheets;
  },
  set adoptedStyleSheets(sheets) {
    document.adoptedStyleSheets = sheets;
  },
};

export class StyleModule extends Original {
  static mount(root, modules, options) {
    super.mount(root === document ? page : root, modules, options);
  }
}
