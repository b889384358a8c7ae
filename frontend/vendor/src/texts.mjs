// Texts in the reader's language, from the catalogue that `boot.js` has loaded.
import { EditorState } from '@codemirror/state';

/** A text in the reader's language, with values in place of their `{name}`. */
export function t(english, values = {}) {
  const text = globalThis.toolgate?.translate?.(english) ?? english;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** What the editor's packages say: their panels and what they tell screen readers. */
const phrases = () => ({
  Find: t('Find'),
  Replace: t('Replace'),
  all: t('all'),
  'by word': t('by word'),
  close: t('close'),
  'match case': t('match case'),
  next: t('next'),
  previous: t('previous'),
  regexp: t('regexp'),
  'replace all': t('replace all'),
  replace: t('replace'),
  'replaced $ matches': t('replaced $ matches'),
  'replaced match on line $': t('replaced match on line $'),
  'current match': t('current match'),
  'on line': t('on line'),
  'Go to line': t('Go to line'),
  go: t('go'),
  Diagnostics: t('Diagnostics'),
  'No diagnostics': t('No diagnostics'),
  Completions: t('Completions'),
  'folded code': t('folded code'),
  to: t('to'),
  unfold: t('unfold'),
  'Folded lines': t('Folded lines'),
  'Unfolded lines': t('Unfolded lines'),
  'Fold line': t('Fold line'),
  'Unfold line': t('Unfold line'),
  'Control character': t('Control character'),
  '$ unchanged lines': t('$ unchanged lines'),
  'Selection deleted': t('Selection deleted'),
});

/** The words of an editor. */
export const words = () => EditorState.phrases.of(phrases());
