// The document of a project with tools of every shape and name, as orval reads it: compiled strictly, with a function for
// every tool.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as tools from './generated/tools.js';

describe('orval', () => {
  it('has a function for every tool', () => {
    // One that calls the tool, and one that says where.
    const names = Object.keys(tools).filter((name) => /^get.+Url$/.test(name));
    assert.equal(names.length, Number(process.env.TOOLGATE_TOOLS), names.join(' '));
  });
});
