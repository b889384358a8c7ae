// What an editor offers and explains at a place of a definition.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompletionContext } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';

import { completions, meaning } from '../src/schema.mjs';

const key = (description, more = {}) => ({ type: 'string', description, ...more });
const SCHEMA = {
  $defs: {
    tool: {
      type: 'object',
      properties: {
        name: key('What it is called.'),
        type: { enum: ['http', 'static'], description: 'How it is executed.' },
        enabled: { type: 'boolean', description: 'Whether it may be called.' },
        group: { type: 'array', items: { type: 'string' }, description: 'Its groups.' },
        parameters: { $ref: '#/$defs/value', type: 'object', description: 'Its arguments.' },
        steps: { type: 'array', items: { type: 'object', properties: { run: key('What is run.') } } },
      },
      allOf: [
        { if: { properties: { type: { const: 'http' } } }, then: { properties: { url: key('Where it is.') } } },
        { if: { properties: { type: { const: 'static' } } }, then: { properties: { answer: key('What it answers.') } } },
      ],
    },
    value: {
      type: 'object',
      properties: {
        type: { enum: ['string', 'object'] },
        properties: { type: 'object', additionalProperties: { $ref: '#/$defs/value' } },
      },
    },
  },
  anyOf: [
    { $ref: '#/$defs/tool' },
    { properties: { tool: { type: 'object', additionalProperties: { $ref: '#/$defs/tool' } } } },
  ],
};

/** The state with the cursor where the text has a bar. */
function at(text, extensions = []) {
  const pos = text.indexOf('|');
  return { pos, state: EditorState.create({ doc: text.replace('|', ''), extensions }) };
}

function offered(text, language = 'yaml', names = {}) {
  const { pos, state } = at(text, language === 'json' ? json() : []);
  const found = completions(SCHEMA, language, () => names)(new CompletionContext(state, pos, true));
  return found?.options.map(({ label }) => label) ?? [];
}

/** The text after the first completion was taken. */
function completed(text, names, language = 'yaml') {
  const { pos, state } = at(text, language === 'json' ? json() : []);
  const found = completions(SCHEMA, language, () => names)(new CompletionContext(state, pos, true));
  const [{ label, apply = label }] = found.options;
  return state.sliceDoc(0, found.from) + apply + state.sliceDoc(pos);
}

const TABLE = [
  ['the first key', '|', ['name', 'type', 'enabled', 'group', 'parameters', 'steps', 'tool']],
  ['what is there is not offered again', 'name: a\n|', ['type', 'enabled', 'group', 'parameters', 'steps', 'tool']],
  ['the keys of the type', 'type: http\nu|', ['name', 'enabled', 'group', 'parameters', 'steps', 'url', 'tool']],
  ['the keys of another type, that is below', 'a|\ntype: static', ['name', 'enabled', 'group', 'parameters', 'steps', 'answer', 'tool']],
  ['values', 'type: |', ['http', 'static']],
  ['truth', 'enabled: |', ['true', 'false']],
  ['deep down', 'parameters:\n  properties:\n    id:\n      t|', ['type', 'properties']],
  ['values deep down', 'parameters:\n  properties:\n    id:\n      type: |', ['string', 'object']],
  ['in a list', 'steps:\n  - run: a\n  - |', ['run']],
  ['in a list as far to the left as its key', 'steps:\n- |', ['run']],
  ['beside a list', 'group:\n  - a\n|', ['name', 'type', 'enabled', 'parameters', 'steps', 'tool']],
  ['in a map of tools', 'tool:\n  a:\n    type: |', ['http', 'static']],
  ['in the next document', 'type: http\n---\nu|', ['name', 'type', 'enabled', 'group', 'parameters', 'steps', 'tool']],
  ['nothing where nothing is known', 'name:\n  |', []],
];
for (const [what, text, expected] of TABLE) {
  test(`completion: ${what}`, () => assert.deepEqual(offered(text), expected));
}

test('completion in JSON', () => {
  assert.deepEqual(offered('{"name": "a", "|"}', 'json').slice(0, 2), ['type', 'enabled']);
  assert.deepEqual(offered('{"type": |}', 'json'), ['"http"', '"static"']);
  assert.deepEqual(offered('{"type": "|"}', 'json'), ['http', 'static']);
  assert.deepEqual(offered('{"parameters": {"properties": {"id": {"|"}}}}', 'json'), ['type', 'properties']);
});

const NAMES = { group: ['knowledge/read', 'a: b'], url: ['weather'], secret: ['WEATHER_KEY'], state: ['found'] };
for (const [what, text, expected] of [
  ['as a value', 'group: |', NAMES.group],
  ['in a list', 'group:\n  - know|', NAMES.group],
  ['in a list on one line', 'group: [writing, |]', NAMES.group],
  ['between quotes', 'group: "|"', NAMES.group],
  ['of a tool in a map', 'tool:\n  a:\n    group:\n    - |', NAMES.group],
  ['only where the schema has the key', 'parameters:\n  properties:\n    state: |', []],
  ['only where the type has the key', 'type: static\nurl: |', []],
  ['not in place of a key', 'group|: a', ['name', 'type', 'enabled', 'group', 'parameters', 'steps', 'tool']],
  ['of the type', 'type: http\nurl: |', NAMES.url],
  ['of a secret, anywhere', 'steps:\n  - run: a ${secret:WEA|}', NAMES.secret],
]) {
  test(`a name of the project is offered: ${what}`, () => assert.deepEqual(offered(text, 'yaml', NAMES), expected));
}

test('a name of the project is offered in JSON', () => {
  assert.deepEqual(offered('{"group": ["|"]}', 'json', NAMES), NAMES.group);
  assert.deepEqual(offered('{"group": ["a", "|"]}', 'json', NAMES), NAMES.group);
});

test('a name of the project is written as YAML reads it', () => {
  assert.equal(completed('group: |', { group: ['a: b'] }), 'group: "a: b"');
  assert.equal(completed('group: [x, "|"]', NAMES), 'group: [x, "knowledge/read"]');
  assert.equal(completed('group: |', { group: ['true'] }), 'group: "true"');
  assert.equal(completed('{"group": |}', NAMES, 'json'), '{"group": "knowledge/read"}');
  assert.equal(completed('name: ${secret:WE|', NAMES), 'name: ${secret:WEATHER_KEY}');
  assert.equal(completed('name: ${secret:WE|}', NAMES), 'name: ${secret:WEATHER_KEY}');
});

test('a key is explained', () => {
  const lines = (text) => {
    const { pos, state } = at(text);
    return meaning(SCHEMA, 'yaml', state, pos)?.lines;
  };
  assert.deepEqual(lines('na|me: a'), ['What it is called.', 'string']);
  assert.deepEqual(lines('type: http\nu|rl: x'), ['Where it is.', 'string']);
  assert.deepEqual(lines('ty|pe: http'), ['How it is executed.', 'one of "http", "static"']);
  assert.equal(lines('name: a|bc'), undefined);
});
