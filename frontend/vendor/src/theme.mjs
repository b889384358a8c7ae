// The look of editors and differences, in the dashboard's own colours, so that every theme of it is one of theirs.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const MONO = { fontFamily: 'var(--mono)', fontSize: '0.82rem', lineHeight: '1.6' };

const frame = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': MONO,
  '.cm-content': { paddingBlock: 'var(--s3)', caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--text-muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--hover)', color: 'var(--text)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--sunken)',
    border: '1px solid var(--line-strong)',
    color: 'var(--text-muted)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--focus) 28%, transparent) !important',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--focus) 16%, transparent)' },
  '.cm-searchMatch': { backgroundColor: 'var(--note-soft)', outline: '1px solid var(--note-line)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--danger-soft)' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: 'var(--s2) var(--s5) var(--s2) var(--s3)', fontSize: 'var(--t-small)' },
  '.cm-panel.cm-search label': { fontSize: 'inherit' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text)', minWidth: '24px', minHeight: '24px' },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
    color: 'var(--text)',
    fontSize: 'inherit',
    minHeight: '24px',
  },
  '.cm-button': {
    background: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
    color: 'var(--text)',
    fontSize: 'inherit',
    minHeight: '24px',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius-small)',
    boxShadow: '0 6px 20px var(--shadow)',
    color: 'var(--text)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '0.82rem', maxHeight: '14rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--text)' },
  '.cm-completionDetail': { color: 'var(--text-muted)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { color: 'var(--accent)', textDecoration: 'none', fontWeight: '600' },
  '.cm-tooltip.cm-completionInfo, .cm-hint': {
    fontSize: 'var(--t-small)',
    maxWidth: '24rem',
    padding: 'var(--s2) var(--s3)',
  },
  '.cm-hint p + p': { marginTop: 'var(--s1)', color: 'var(--text-muted)' },
  '.cm-diagnostic': { fontSize: 'var(--t-small)', padding: 'var(--s2) var(--s3)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--danger)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--note)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)', minHeight: '24px' },
  // The wave is drawn by the browser: a picture of it would have one colour for all themes.
  '.cm-lintRange': { backgroundImage: 'none', textDecoration: 'underline wavy 1px', textUnderlineOffset: '3px' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--danger)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--note)' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--danger)' },
  '.cm-lint-marker': { width: '0.9em', height: '0.9em' },
});

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName, tags.heading], color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.monospace, tags.url], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.labelName, tags.typeName], color: 'var(--note)' },
  { tag: [tags.comment, tags.meta, tags.separator, tags.punctuation, tags.processingInstruction], color: 'var(--text-muted)' },
  { tag: tags.invalid, color: 'var(--danger)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.link, textDecoration: 'underline' },
]);

const difference = EditorView.theme({
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--good-soft) !important' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk, .cm-deletedLine': { backgroundColor: 'var(--danger-soft) !important' },
  '.cm-deletedChunk': { paddingInlineStart: '6px', color: 'var(--text)' },
  '.cm-changedText, .cm-insertedLine .cm-changedText': {
    background: 'none',
    borderBottom: '2px solid var(--good)',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'none',
    borderBottom: '2px solid var(--danger)',
    textDecoration: 'none',
  },
  '.cm-changeGutter': { width: '4px' },
  '.cm-collapsedLines': {
    background: 'var(--sunken)',
    color: 'var(--text-muted)',
    fontSize: 'var(--t-small)',
  },
});

export const look = [frame, syntaxHighlighting(colours)];
export const lookOfDifference = [...look, difference];
