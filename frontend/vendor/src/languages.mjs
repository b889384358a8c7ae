// The languages of the dashboard's texts.
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { Language, LanguageSupport, defineLanguageFacet, foldNodeProp, foldInside } from '@codemirror/language';
import { parser } from '@lezer/markdown';

// Markdown without the languages that it may contain: those are heavier than all the rest.
const markdown = () =>
  new LanguageSupport(
    new Language(
      defineLanguageFacet(),
      parser.configure({ props: [foldNodeProp.add({ FencedCode: foldInside })] }),
      [],
      'markdown',
    ),
  );

const LANGUAGES = { json, markdown, yaml };

/** What knows a language; nothing for a plain text. */
export function languageOf(name) {
  return LANGUAGES[name]?.() ?? [];
}
