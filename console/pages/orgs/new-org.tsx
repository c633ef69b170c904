/** A new organisation: its form. The person owns it, and is in it next. It is also shown to people who are in none yet. */
import { useMemo, useState } from "preact/hooks";
import { faultAt, useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { pickOrg } from "../../app/pick-org.tsx";
import { refreshSession } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, TextField } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { countryOptions } from "../../text/countries.ts";
import { slugFault, slugOf } from "../../text/slug.ts";

const KINDS = [
  ["team", "A team or a company"],
  ["personal", "One person"],
  ["enterprise", "An enterprise"],
] as const;
type Kind = (typeof KINDS)[number][0];

const PLACED = ["/name", "/slug", "/billing_country"];

const currencyWords = (country: string): string =>
  country === "IN"
    ? "Top-ups and invoices are in Indian rupees. The first top-up fixes that."
    : "Decides the currency of top-ups and invoices: rupees for India, US dollars elsewhere. The first top-up fixes it.";

export function NewOrgForm() {
  const [name, setName] = useState("");
  const [ownSlug, setSlug] = useState<string | undefined>(undefined);
  const [country, setCountry] = useState("");
  const [kind, setKind] = useState<Kind>("team");
  const [isTried, setTried] = useState(false);
  const act = useAct();
  const countries = useMemo(countryOptions, []);
  const slug = ownSlug ?? slugOf(name);
  const faults = {
    name: name.trim() === "" ? "Give it a name." : undefined,
    slug: slugFault(slug),
    country: country === "" ? "Choose a country." : undefined,
  };
  const faultOf = (field: keyof typeof faults, pointer: string) =>
    (isTried ? faults[field] : undefined) ?? faultAt(act.fault, pointer);
  const create = () => {
    setTried(true);
    if (Object.values(faults).some((fault) => fault !== undefined)) return;
    act.run(async () => {
      const body = { name: name.trim(), slug, billing_country: country, kind };
      const made = await call("createOrg", { body });
      await refreshSession();
      pickOrg(made.slug);
    });
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        create();
      }}
    >
      <div class="columns">
        <TextField
          label="Name"
          value={name}
          onValue={setName}
          fault={faultOf("name", "/name")}
          maxLength={200}
        />
        <TextField
          label="Short name"
          value={slug}
          onValue={setSlug}
          fault={faultOf("slug", "/slug")}
          hint="In addresses of the console. It cannot be changed later"
          maxLength={63}
        />
      </div>
      <div class="columns">
        <Choice
          label="Country where it is billed"
          value={country}
          onValue={setCountry}
          fault={faultOf("country", "/billing_country")}
          hint={currencyWords(country)}
          options={[["", "Choose"], ...countries]}
        />
        <Choice
          label="What it is"
          value={kind}
          onValue={(value) => setKind(value as Kind)}
          hint="A label; nothing depends on it"
          options={KINDS}
        />
      </div>
      {!PLACED.includes(act.fault?.param ?? "") && <FaultNote fault={act.fault} />}
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy}>
          Create organisation
        </Button>
        <span class="quiet small">You own it. It begins with a project and no key.</span>
      </div>
    </form>
  );
}
