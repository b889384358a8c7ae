// Where in a value a place of a text is: the keys that lead there, and the keys and values beside it.
import { syntaxTree } from '@codemirror/language';

/** An item of a list, in a path. */
export const ITEM = 0;

const ENTRY = /^(\s*)((?:- +)*)(?:(["']?)([\w$./-]+)\3\s*:(?:\s+(.*))?$)?/;

function unquoted(text = '') {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2');
}

/** A line of YAML: where its dashes and its content begin, and its key and value. */
function entry(text) {
  const [, blank, dashes, , key, value] = ENTRY.exec(text);
  const columns = [];
  for (let at = dashes.indexOf('-'); at >= 0; at = dashes.indexOf('-', at + 1)) columns.push(blank.length + at);
  const isEmpty = /^\s*(#.*)?$/.test(text);
  return { dashes: columns, column: blank.length + dashes.length, key, value: unquoted(value), isEmpty };
}

/** The path by indentation: it is known while what is typed is no YAML yet. */
function placeInYaml(doc, pos) {
  const line = doc.lineAt(pos);
  const here = entry(line.text);
  if (here.isEmpty) here.column = pos - line.from;
  const path = [];
  let column = here.column;
  // Below a dash, the list's own key may be as far to the left as the dash is.
  let dash = null;
  const leave = ({ dashes }) => {
    for (const at of dashes.toReversed()) {
      path.unshift(ITEM);
      dash = at;
    }
  };
  const beside = new Map();
  const note = (found) => found.key && found.column === here.column && beside.set(found.key, found.value);
  leave(here);
  let isBeside = here.dashes.length === 0;
  for (let number = line.number - 1; number > 0; number -= 1) {
    const text = doc.line(number).text;
    if (/^(---|\.\.\.)/.test(text)) break;
    const above = entry(text);
    if (above.isEmpty) continue;
    if (isBeside) {
      if (above.column < here.column) isBeside = false;
      else note(above);
    }
    if (dash === null && above.column === column && above.dashes.length > 0) {
      isBeside = false;
      leave(above);
    } else if (above.key && (dash === null ? above.column < column : above.column <= dash && !above.dashes.includes(dash))) {
      path.unshift(above.key);
      column = above.column;
      dash = null;
      leave(above);
    }
  }
  for (let number = line.number + 1; number <= doc.lines; number += 1) {
    const text = doc.line(number).text;
    const below = entry(text);
    if (below.isEmpty) continue;
    if (/^(---|\.\.\.)/.test(text) || below.column < here.column || below.dashes.some((at) => at < here.column)) break;
    note(below);
  }
  return { path, beside, key: here.key };
}

function placeInJson(state, pos) {
  const text = (node) => unquoted(state.sliceDoc(node.from, node.to));
  const path = [];
  const beside = new Map();
  let key;
  let isInnermost = true;
  for (let node = syntaxTree(state).resolveInner(pos, -1); node; node = node.parent) {
    if (node.name === 'Property') {
      const name = node.getChild('PropertyName');
      // An item of a list has no key of its own.
      if (isInnermost && path.length === 0) key = name && text(name);
      else if (name) path.unshift(text(name));
    } else if (node.name === 'Array') {
      path.unshift(ITEM);
    } else if (node.name === 'Object' && isInnermost) {
      for (const property of node.getChildren('Property')) {
        const name = property.getChild('PropertyName');
        const value = property.lastChild;
        if (name) beside.set(text(name), value && value !== name ? text(value) : '');
      }
      isInnermost = false;
    }
  }
  return { path, beside, key };
}

/** The path of the object that a position is in, the object's other keys with their values, and the key of its line. */
export function placeAt(state, language, pos) {
  return language === 'json' ? placeInJson(state, pos) : placeInYaml(state.doc, pos);
}
