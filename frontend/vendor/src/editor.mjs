// An editor: highlighting, folding, search, completion, faults.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState } from '@codemirror/state';
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { languageOf } from './languages.mjs';
import { completions, meaning } from './schema.mjs';
import { t, words } from './texts.mjs';
import { look } from './theme.mjs';

/** Marks what the page wrote itself, which it need not hear of. */
const written = Annotation.define();

/** The offset of a line and column, both from 1; columns count characters, not UTF-16 units. */
function offset(doc, line, column) {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return found.from + Array.from(found.text).slice(0, Math.max(column, 1) - 1).join('').length;
}

/** Where a field's cursor is. */
function offsetOf(field) {
  return Math.min(field.selectionStart, field.value.length);
}

/** The word at a place, without quotes. */
function wordAt(doc, from) {
  const [all, , word] = /^(["']?)([^\s"'{}[\],:#]*)/.exec(doc.sliceString(from, doc.lineAt(from).to));
  return { from: from + all.length - word.length, to: from + all.length };
}

/** The smallest change that makes one text of another, so that cursor and folds stay where they are. */
function change(before, after) {
  let head = 0;
  while (head < before.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  return { from: head, to: before.length - tail, insert: after.slice(head, after.length - tail) };
}

function hint(root, language) {
  return hoverTooltip((view, pos) => {
    const found = meaning(root, language, view.state, pos);
    if (!found) return null;
    const create = () => {
      const dom = document.createElement('div');
      dom.className = 'cm-hint';
      for (const line of found.lines) dom.appendChild(document.createElement('p')).textContent = line;
      return { dom };
    };
    return { pos: found.from, end: found.to, above: true, create };
  });
}

/**
 * What is typed over a selection. A browser would keep the look of what was selected in a `style` attribute, which the
 * page's policy refuses.
 */
const overSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection;
    if (event.inputType !== 'insertText' || !event.data || main.empty || view.composing) return false;
    event.preventDefault();
    const insert = () => view.state.update(view.state.replaceSelection(event.data), { userEvent: 'input.type' });
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handle) => handle(view, main.from, main.to, event.data, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

/** What only an editor has in which something can be written. */
function writing(language, schema, names) {
  return [
    overSelection,
    history(),
    closeBrackets(),
    indentOnInput(),
    autocompletion({ override: schema ? [completions(schema, language, names)] : null, icons: false }),
    keymap.of([...closeBracketsKeymap, ...historyKeymap, ...completionKeymap]),
  ];
}

/**
 * Puts an editor into an element, in place of a plain field whose text, cursor and focus it takes over. `options`: label,
 * language, rows, and schema or null. Tab is left to the browser: it leads on to the next control.
 */
export function mount(parent, field, options, onChange) {
  const { label, language, rows, schema } = JSON.parse(options);
  const access = new Compartment();
  let names = {};
  const permit = (readonly) => [
    EditorState.readOnly.of(readonly),
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': String(readonly) }),
    readonly ? [] : writing(language, schema, () => names),
  ];
  parent.style.setProperty('--rows', rows);
  const isFocused = field === document.activeElement;
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: field.value,
      selection: { anchor: offsetOf(field) },
      extensions: [
        lineNumbers(),
        lintGutter(),
        foldGutter(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        drawSelection(),
        bracketMatching(),
        highlightSelectionMatches(),
        search({ top: true }),
        indentUnit.of('  '),
        EditorState.tabSize.of(2),
        languageOf(language),
        words(),
        look,
        schema ? hint(schema, language) : [],
        access.of(permit(true)),
        keymap.of([...searchKeymap, ...foldKeymap, ...lintKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ spellcheck: 'false', autocapitalize: 'off', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          const isOurs = update.transactions.some((transaction) => transaction.annotation(written));
          if (update.docChanged && !isOurs) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  if (isFocused) view.focus();
  const replace = (place, by) =>
    view.dispatch({ changes: { ...place, insert: by }, selection: { anchor: place.from + by.length } });
  return {
    /** Makes it writable or not. */
    permit: (readonly) => view.dispatch({ effects: access.reconfigure(permit(readonly)) }),
    /** Offers names of the project as values; they are by the key of the value. */
    offer(known) {
      names = JSON.parse(known);
    },
    /** Shows another text. */
    write(after) {
      const before = view.state.doc.toString();
      if (before !== after) view.dispatch({ changes: change(before, after), annotations: written.of(true) });
    },
    /** Marks faults: severity, message, line, column, and what would correct them. */
    mark(faults) {
      const { doc } = view.state;
      const marks = JSON.parse(faults).map(({ severity, message, line, column, fix }) => {
        const at = offset(doc, line, column);
        const word = wordAt(doc, at);
        const to = word.to > at ? word.to : Math.min(at + 1, doc.lineAt(at).to);
        const apply = (view, from) => replace(wordAt(view.state.doc, from), fix);
        const actions = fix ? [{ name: t('Replace with “{fix}”', { fix }), apply }] : [];
        return { from: at, to, severity, message, actions };
      });
      view.dispatch(setDiagnostics(view.state, marks));
    },
    /** Replaces the word at a place. */
    fix(line, column, by) {
      replace(wordAt(view.state.doc, offset(view.state.doc, line, column)), by);
      view.focus();
    },
    /** Puts the cursor at a line and column. */
    jump(line, column) {
      const at = offset(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
