// Descriptions of Swagger 2.0 as OpenAPI 3.0, by an independent converter: `node convert.mjs <packages> <file>...` writes
// `<name>.converted.json` beside each file.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [packages, ...files] = process.argv.slice(2);
const load = createRequire(join(packages, "package.json"));
const { convertStr } = load("swagger2openapi");

for (const file of files) {
  const { openapi } = await convertStr(readFileSync(file, "utf8"), { patch: true, warnOnly: true });
  writeFileSync(file.replace(/\.(json|yaml)$/, ".converted.json"), JSON.stringify(openapi));
}
