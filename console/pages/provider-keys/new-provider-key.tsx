/** A new provider key: which provider, its credential, which is not shown again, and what happens where the provider refuses it. */
import { useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { useAnswer } from "../../api/answers.ts";
import { type ApiError, call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextArea, TextField } from "../../parts/field.tsx";
import { Link } from "../../parts/link.tsx";
import { FaultNote, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type CredentialValues, credentialOf, type Kind, NO_CREDENTIAL, usualKind } from "./credential.ts";

export function NewProviderKey() {
  const providers = useAnswer("listProviders", {});
  const listed = providers.value.value?.data;
  return (
    <Page title="New provider key" about={<Link to={["provider-keys"]}>All provider keys</Link>}>
      <Panel title="The key">
        <FaultNote fault={providers.fault.value} onRetry={providers.refresh} />
        {listed === undefined && providers.fault.value === undefined && <Waiting />}
        {listed !== undefined && <Form providers={listed} />}
      </Panel>
    </Page>
  );
}

interface FormProps {
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

function Form({ providers }: FormProps) {
  const [provider, setProvider] = useState("");
  const [name, setName] = useState("");
  const [values, setValues] = useState(NO_CREDENTIAL);
  const [fallback, setFallback] = useState("yes");
  const act = useAct();
  const credential = credentialOf(values);
  const choose = (id: string) => {
    setProvider(id);
    setValues({ ...values, kind: usualKind(id) });
  };
  const add = () =>
    act.run(async () => {
      if (credential === undefined) return;
      const body = {
        provider,
        credential,
        platform_fallback: fallback === "yes",
        ...(name.trim() !== "" && { name: name.trim() }),
      };
      await call("createProviderKey", { body });
      go(pageAddress(orgSlug.value, ["provider-keys"]), "replace");
    });
  const isPlaced = /^\/(?:provider|name|credential)/.test(act.fault?.param ?? "");
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <div class="columns">
        <Choice
          label="Provider"
          value={provider}
          onValue={choose}
          fault={faultAt(act.fault, "/provider")}
          options={[["", "Choose"], ...providers.map((each) => [each.id, each.name] as const)]}
        />
        <TextField
          label="Name"
          value={name}
          onValue={setName}
          fault={faultAt(act.fault, "/name")}
          hint="Empty: the provider's name"
          maxLength={200}
        />
      </div>
      <CredentialFields values={values} onValues={setValues} fault={act.fault} />
      <Choice
        label="Where the provider refuses this key"
        value={fallback}
        onValue={setFallback}
        hint="Holds for all your keys of this provider: one that says no decides"
        options={[
          ["yes", "The gateway's own key stands in, at the usual price"],
          ["no", "Calls never go to this provider with the gateway's key"],
        ]}
      />
      {!isPlaced && <FaultNote fault={act.fault} />}
      <div class="row">
        <Button
          kind="main"
          type="submit"
          isBusy={act.isBusy}
          disabled={provider === "" || credential === undefined}
        >
          Add key
        </Button>
        <span class="quiet small">It is kept encrypted, and is never shown again.</span>
      </div>
    </form>
  );
}

const KIND_OPTIONS: readonly (readonly [Kind, string])[] = [
  ["text", "A key in one piece"],
  ["aws", "AWS access key and secret"],
  ["google", "Key file of a Google service account"],
];

interface CredentialProps {
  readonly values: CredentialValues;
  readonly onValues: (values: CredentialValues) => void;
  readonly fault: ApiError | undefined;
}

function CredentialFields({ values, onValues, fault }: CredentialProps) {
  const set = (change: Partial<CredentialValues>) => onValues({ ...values, ...change });
  // The API names the part of a credential that is wrong; a credential in one piece has one place.
  const whole = fault?.param.startsWith("/credential") === true ? faultAt(fault, fault.param) : undefined;
  const part = (name: string) => faultAt(fault, `/credential/${name}`);
  const secret = (
    label: string,
    name: "text" | "accessKeyId" | "secretAccessKey" | "sessionToken",
    said?: string,
  ) => (
    <TextField
      label={label}
      type={name === "accessKeyId" ? "text" : "password"}
      value={values[name]}
      onValue={(text) => set({ [name]: text })}
      fault={said}
    />
  );
  return (
    <>
      <Choice
        label="What the provider gave you"
        value={values.kind}
        onValue={(kind) => set({ kind: kind as Kind })}
        fault={
          values.kind === "aws" && whole !== undefined && fault?.param === "/credential" ? whole : undefined
        }
        options={KIND_OPTIONS}
      />
      {values.kind === "text" && secret("Key", "text", whole)}
      {values.kind === "aws" && (
        <div class="columns">
          {secret("Access key id", "accessKeyId", part("access_key_id"))}
          {secret("Secret access key", "secretAccessKey", part("secret_access_key"))}
          {secret("Session token, if it is temporary", "sessionToken", part("session_token"))}
        </div>
      )}
      {values.kind === "google" && (
        <TextArea
          label="Key file, as JSON"
          value={values.file}
          onValue={(file) => set({ file })}
          fault={whole}
          hint="The whole file that Google's console saved"
          rows={8}
          isCode
        />
      )}
    </>
  );
}
