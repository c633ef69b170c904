/** How a receiver checks who sent what it gets: whole programs, with nothing but the standard library. */
import { useState } from "preact/hooks";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { RECEIVERS } from "./receivers.ts";

export function Verify() {
  const [language, setLanguage] = useState<string>("Node");
  const receiver = RECEIVERS.find(([name]) => name === language) ?? RECEIVERS[0];
  return (
    <Panel
      title="How your receiver checks the signature"
      actions={
        <Tabs
          label="Language"
          value={language}
          onValue={setLanguage}
          options={RECEIVERS.map(([name]) => [name, name] as const)}
        />
      }
    >
      <p>
        Each delivery is signed as Standard Webhooks says, so its libraries check it, too. These whole
        programs need none: the secret is in <code>WEBHOOK_SECRET</code>. Take what has the same{" "}
        <code>webhook-id</code> as before for done: it may come twice.
      </p>
      <TextBlock title={`A receiver in ${receiver[0]}`} text={receiver[1]} />
    </Panel>
  );
}
