// The document of a project with tools of every shape and name, as openapi-ts reads it: compiled strictly, with a function
// for every tool.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as tools from './generated/sdk.gen.js';

describe('openapi-ts', () => {
  it('has a function for every tool', () => {
    const names = Object.keys(tools);
    assert.equal(names.length, Number(process.env.TOOLGATE_TOOLS), names.join(' '));
  });
});
