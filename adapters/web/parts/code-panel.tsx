import { useId, useState } from "preact/hooks";
import { codeOf, type CodeRequest, type Language, LANGUAGES } from "./code.js";
import { CopyButton } from "./copy-button.js";

interface CodePanelProps {
  /** With a key of its own whenever it was copied or changed. */
  readonly request: CodeRequest;
  readonly onCopied: () => void;
  readonly onLanguage?: () => void;
}

/** A request as one would send it from elsewhere, in one of the languages. */
export function CodePanel({ request, onCopied, onLanguage }: CodePanelProps) {
  const [language, setLanguage] = useState<Language>("curl");
  const group = useId();
  const code = codeOf(language, request);
  const choose = (name: Language): void => {
    setLanguage(name);
    onLanguage?.();
  };
  return (
    <div class="code">
      <div class="segments" role="group" aria-label="Language">
        {LANGUAGES.map((name) => (
          <label key={name}>
            <input type="radio" name={group} checked={language === name} onChange={() => choose(name)} />
            <span>{name}</span>
          </label>
        ))}
      </div>
      <pre tabIndex={0} aria-label={`The request in ${language}`}>
        <code>{code}</code>
      </pre>
      <div class="row">
        <CopyButton label="Copy" text={() => code} onCopied={onCopied} />
        <span class="hint">
          Needs your API key: <code>export FERMATA_API_KEY=frm_…</code>
          {language === "JavaScript" ? (
            <>
              {" "}
              and the client: <code>npm install fermata-music</code>
            </>
          ) : null}
        </span>
      </div>
    </div>
  );
}
