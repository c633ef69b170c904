/** The texts by which tools connect, to be copied. */
import { useState } from "preact/hooks";
import { CopyButton } from "../../parts/copy.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { type Connection, connectionTexts } from "./connection.ts";

export function Connect({ to }: { readonly to: Connection }) {
  const texts = connectionTexts(to);
  const [chosen, setChosen] = useState(texts[0]?.id ?? "");
  const shown = texts.find(({ id }) => id === chosen);
  return (
    <div class="stack">
      <Tabs
        label="Tool"
        value={chosen}
        onValue={setChosen}
        options={texts.map(({ id, name }) => [id, name] as const)}
      />
      {shown !== undefined && (
        <>
          <p class="quiet small">{shown.about}</p>
          <div class="connect">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
            <pre tabIndex={0}>{shown.text}</pre>
            <CopyButton text={shown.text} what={`settings for ${shown.name}`} />
          </div>
        </>
      )}
      {isOfThisMachine(to.url) && (
        <p class="quiet small">
          The address is that of the gateway's own machine: from elsewhere, forward its port, for example by
          ssh.
        </p>
      )}
    </div>
  );
}

const isOfThisMachine = (url: string): boolean =>
  /^(?:127\.|localhost$|\[?::1\]?$)/.test(new URL(url).hostname);
