// What a JSON Schema says of a place: its keys, their meaning and their values.
import { ITEM, placeAt } from './places.mjs';

/** A schema with everything that applies beside it. `beside` has the values that conditions ask for; unknown, all hold. */
function* applying(schema, root, beside, depth = 0) {
  if (!schema || typeof schema !== 'object' || depth > 12) return;
  yield schema;
  const deeper = (part) => applying(part, root, beside, depth + 1);
  if (schema.$ref?.startsWith('#/$defs/')) yield* deeper(root.$defs?.[schema.$ref.slice(8)]);
  for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* deeper(part);
  if (schema.if && (!beside || holds(schema.if, beside))) yield* deeper(schema.then);
}

function holds(condition, beside) {
  return Object.entries(condition.properties ?? {}).every(
    ([key, { const: wanted }]) => beside.get(key) === String(wanted),
  );
}

/** The schemas of what a path leads to. Only the innermost object's values are known. */
function schemasAt(root, path, beside) {
  let found = [root];
  for (const step of path) {
    const parts = found.flatMap((schema) => [...applying(schema, root, null)]);
    found = parts.flatMap((part) => {
      if (step === ITEM) return part.items ?? [];
      return part.properties?.[step] ?? (typeof part.additionalProperties === 'object' ? part.additionalProperties : []);
    });
  }
  return found.flatMap((schema) => [...applying(schema, root, beside)]);
}

function properties(root, { path, beside }) {
  return Object.assign({}, ...schemasAt(root, path, beside).map((schema) => schema.properties ?? {}));
}

function valuesOf(root, schema) {
  const all = [...applying(schema, root, null)];
  const listed = all.flatMap((part) => part.enum ?? (part.const === undefined ? [] : [part.const]));
  if (listed.length > 0) return listed;
  if (all.some((part) => part.type === 'boolean')) return [true, false];
  return all.flatMap((part) => (part.default === undefined ? [] : [part.default]));
}

const typeOf = (schema) => (schema.enum ? 'one of' : [schema.type].flat().join(' or '));

/** What follows a key; `next` is what follows it already. */
function afterKey(schema, language, indent, next) {
  if (language === 'json') return next === '"' ? '' : '"';
  if (schema.type === 'object') return `:\n${' '.repeat(indent + 2)}`;
  if (schema.type === 'array') return `:\n${' '.repeat(indent + 2)}- `;
  return ': ';
}

/** What YAML reads as a text without quotes. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off)$)[a-z_][\w./-]*$/i;

/** Names of the project that complete what is before the cursor: of a secret, or as a value of a key that is for them. */
function named(root, language, names, place, before, after) {
  const secret = /\$\{secret:([\w.-]*)$/.exec(before);
  if (secret) {
    const end = after.startsWith('}') ? '' : '}';
    const options = (names.secret ?? []).map((label) => ({ label, type: 'constant', apply: label + end }));
    return { length: secret[1].length, options };
  }
  const isItem = place.path.at(-1) === ITEM && !place.key;
  const key = isItem ? place.path.at(-2) : place.key;
  const owner = isItem ? { path: place.path.slice(0, -2), beside: null } : place;
  const value = /[\s:,[](["']?)([^\s"'{}[\],:#]*)$/.exec(before);
  if (!value || !(isItem || before.includes(':')) || !Object.hasOwn(names, key ?? '') || !properties(root, owner)[key]) return null;
  const options = names[key].map((label) => {
    const isPlain = value[1] || (language !== 'json' && PLAIN.test(label));
    return { label, type: 'constant', apply: isPlain ? label : JSON.stringify(label) };
  });
  return { length: value[2].length, options };
}

/** Completions of keys and values. `names` gives the names of the project by the key that they are values of. */
export function completions(root, language, names = () => ({})) {
  return (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const typed = (language === 'json' ? /^(.*?[{,]|)(\s*")([\w$-]*)$/ : /^()(\s*(?:- +)*)([\w$-]*)$/).exec(before);
    const place = placeAt(context.state, language, context.pos);
    const own = named(root, language, names(), place, before, line.text.slice(context.pos - line.from));
    if (own?.options.length > 0) {
      return { from: context.pos - own.length, options: own.options, validFor: /^[^\s"'{}[\],:#]*$/ };
    }
    if (typed && (typed[3] || context.explicit || language === 'json')) {
      const from = context.pos - typed[3].length;
      const next = context.state.sliceDoc(context.pos, context.pos + 1);
      const options = Object.entries(properties(root, place))
        .filter(([key]) => !place.beside.has(key) || key === place.key)
        .map(([key, schema]) => ({
          label: key,
          type: 'property',
          detail: typeOf(schema),
          info: schema.description,
          apply: key + afterKey(schema, language, typed[2].length, next),
        }));
      return options.length > 0 ? { from, options, validFor: /^[\w$-]*$/ } : null;
    }
    const value = (language === 'json' ? /:\s*"?([\w./-]*)$/ : /:\s+([\w./-]*)$/).exec(before);
    const schema = value && properties(root, place)[place.key];
    if (!schema) return null;
    const options = valuesOf(root, schema).map((known) => {
      const isQuoted = language !== 'json' || /"[\w./-]*$/.test(before);
      const text = typeof known === 'object' || !isQuoted ? JSON.stringify(known) : String(known);
      return { label: text, type: 'constant' };
    });
    return options.length > 0 ? { from: context.pos - value[1].length, options, validFor: /^[\w./-]*$/ } : null;
  };
}

/** What a key is for, its type and its values; nothing where the schema knows no such key. */
export function meaning(root, language, state, pos) {
  const place = placeAt(state, language, pos);
  const line = state.doc.lineAt(pos);
  const at = place.key ? line.text.indexOf(place.key) : -1;
  if (at < 0 || pos < line.from + at || pos > line.from + at + place.key.length) return null;
  const schema = properties(root, place)[place.key];
  if (!schema) return null;
  const values = valuesOf(root, schema).map((value) => JSON.stringify(value));
  const bounds = [schema.minimum, schema.maximum].some((bound) => bound !== undefined)
    ? `from ${schema.minimum ?? 'any'} to ${schema.maximum ?? 'any'}`
    : '';
  const facts = [typeOf(schema), schema.type === 'boolean' ? '' : values.join(', '), bounds].filter(Boolean);
  return {
    from: line.from + at,
    to: line.from + at + place.key.length,
    lines: [schema.description, facts.join(' ')].filter(Boolean),
  };
}
