// Bundles the editor and the charts into the dashboard's assets. The bundles are part of the sources, so that building the
// dashboard takes no Node; `--check` compares them with what the packages of the lock file give.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const isCheck = process.argv.includes('--check');

const { outputFiles, metafile } = await build({
  absWorkingDir: path('.'),
  entryPoints: ['editor.mjs', 'charts.mjs'],
  outdir: path('../assets/vendor'),
  bundle: true,
  format: 'esm',
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  banner: { js: '/* Made by frontend/vendor/build.mjs. Licences: frontend/vendor/LICENCES.md */' },
  alias: { 'style-mod': path('src/style-mod.mjs') },
  metafile: true,
  write: false,
});

/** The licence of every package that is in a bundle. */
async function licences() {
  const names = Object.keys(metafile.inputs).map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]);
  const texts = [...new Set(names.filter(Boolean))].sort().map(async (name) => {
    const { version, license } = JSON.parse(await readFile(path(`node_modules/${name}/package.json`)));
    const text = await readFile(path(`node_modules/${name}/LICENSE`), 'utf8');
    return `## ${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return `# Licences of what is bundled\n\n${(await Promise.all(texts)).join('\n')}`;
}

const made = outputFiles.map(({ path, contents }) => [path, Buffer.from(contents)]);
made.push([path('LICENCES.md'), Buffer.from(await licences())]);

for (const [name, content] of made) {
  if (!isCheck) {
    await mkdir(dirname(name), { recursive: true });
    await writeFile(name, content);
  } else if (!content.equals(await readFile(name).catch(() => Buffer.alloc(0)))) {
    console.error(`${name} is not what the sources give: run \`npm ci && npm run build\` in frontend/vendor.`);
    process.exitCode = 1;
  }
}
