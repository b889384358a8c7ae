import assert from 'node:assert/strict';

import { UploadPage } from '../pages/upload.mjs';
import { setStage } from '../support/stage.mjs';
import { becomes } from '../support/wait.mjs';

const stage = setStage();

/** `arrey` in line 7 is no type. */
const FAULTY = `name: translate
type: openapi
description: Translates a text.
group: [writing]
parameters:
  type: object
  properties: { texts: { type: arrey, items: { type: string } } }
options: { http: { base_url: "https://weather.example", path: "/translate" } }
`;

stage.story('a fault is shown where it is, and mended there', { refusals: ['/projects/demo/tools'] }, async (page) => {
  const upload = new UploadPage(page);
  await upload.open('demo');
  await upload.editor.write(FAULTY);
  await upload.check.click();
  await upload.editor.faults.first().waitFor();
  const place = page.getByRole('button', { name: /^Line 7, column \d+$/ });
  const column = Number(/\d+$/.exec(await place.first().textContent())[0]);
  await place.first().click();
  assert.deepEqual(await upload.editor.cursor(), { line: 7, column, focused: true });
  assert.equal((await stage.server.ask('GET', '/projects/demo/tools/translate')).status, 404, 'nothing is stored');

  await upload.editor.replace('arrey', 'array');
  await becomes(() => upload.editor.faults.count(), 0, 'what was said about another text is gone');
  await upload.check.click();
  await upload.outlook.waitFor();
  await page.locator('.tool-name', { hasText: 'translate' }).waitFor();
  assert.equal((await stage.server.ask('GET', '/projects/demo/tools/translate')).status, 404, 'checking stores nothing');
  await upload.apply.click();
  await upload.applied.waitFor();
  assert.equal((await stage.server.get('/projects/demo/tools/translate')).revision, 1);
  await page.getByRole('link', { name: 'translate' }).click();
  await page.getByRole('heading', { name: 'translate', level: 1 }).waitFor();
});

stage.story('files from the disk become one text', async (page) => {
  const upload = new UploadPage(page);
  await upload.open('blank');
  const tool = (name) => `name: ${name}\ntype: openapi\ndescription: From a file.\noptions: {http: {base_url: "https://weather.example", path: /x}}\n`;
  await upload.files.setInputFiles(
    ['first', 'second'].map((name) => ({ name: `${name}.yaml`, mimeType: 'application/yaml', buffer: Buffer.from(tool(name)) })),
  );
  await page.waitForFunction(() => document.querySelector('textarea').value.includes('second'));
  await upload.check.click();
  await upload.outlook.waitFor();
  await upload.apply.click();
  await upload.applied.waitFor();
  const { items } = await stage.server.get('/projects/blank/tools');
  assert.deepEqual(items.map((item) => item.name), ['first', 'second']);
});
