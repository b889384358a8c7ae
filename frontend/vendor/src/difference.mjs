// The difference of two texts, side by side or in one.
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { languageOf } from './languages.mjs';
import { t, words } from './texts.mjs';
import { lookOfDifference } from './theme.mjs';

/** What both sides are: texts that are only read, and that a keyboard reaches. */
function side(label, language) {
  return [
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true', spellcheck: 'false', tabindex: '0' }),
    EditorView.lineWrapping,
    languageOf(language),
    words(),
    lookOfDifference,
  ];
}

/** Shows a difference in an element. `options`: label, before, after, language, and whether it is side by side. */
export function compare(parent, options) {
  const { label, before, after, language, beside } = JSON.parse(options);
  if (beside) {
    const view = new MergeView({
      parent,
      a: { doc: before, extensions: side(t('{label}: before', { label }), language) },
      b: { doc: after, extensions: side(t('{label}: after', { label }), language) },
      gutter: true,
    });
    return { destroy: () => view.destroy() };
  }
  const unified = unifiedMergeView({ original: before, mergeControls: false, gutter: true });
  const view = new EditorView({
    parent,
    state: EditorState.create({ doc: after, extensions: [side(label, language), unified] }),
  });
  return { destroy: () => view.destroy() };
}
