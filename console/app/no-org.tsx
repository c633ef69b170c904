/** For a person who is in no org yet, in none of this name, or whose session does not open it. */

import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../api/answers.ts";
import { signInAgain } from "../api/call.ts";
import { Button } from "../parts/button.tsx";
import { FaultNote } from "../parts/note.tsx";
import { Page, Panel } from "../parts/panel.tsx";
import { OrgLink } from "./pick-org.tsx";
import { pageAddress } from "./router.ts";
import { isOperator, isOperatorPlace, listedOrg, me, OPERATOR, orgSlug, signOut } from "./session.ts";

const LOCKED = {
  session_expired: "It asks its people to sign in more often. Sign in again to open it.",
  ip_not_allowed: "It is open from certain networks only, and yours is not one of them.",
  two_factor_required: "It asks for a second factor. Sign in again with one.",
} as const;

export function NoOrg() {
  const listed = listedOrg.value;
  const others = (me.value?.orgs ?? []).filter((each) => each !== listed);
  if (listed !== undefined && "locked" in listed) {
    return (
      <Page title={`${listed.name} is locked`}>
        <p>{LOCKED[listed.locked as keyof typeof LOCKED]}</p>
        <div class="row">
          <Button kind="main" onClick={signInAgain}>
            Sign in again
          </Button>
        </div>
        <Others orgs={others} />
      </Page>
    );
  }
  if (isOperatorPlace.value) {
    return (
      <Page title="Not open to your role">
        <p>
          Operators see the installation: those whose addresses its settings name under <code>operators</code>
          . Whoever runs this gateway can add yours.
        </p>
        <Others orgs={others} />
      </Page>
    );
  }
  return (
    <Page title={others.length === 0 ? "You are in no organisation yet" : "No such organisation"}>
      <p>
        {others.length === 0
          ? "Accept an invitation, ask whoever runs this gateway to invite you, or make an organisation of your own."
          : `You are not in "${orgSlug.value}". Choose one of yours.`}
      </p>
      <Others orgs={others} />
      <Invitations />
      {others.length === 0 && <NewOrg />}
      <div class="row">
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </Page>
  );
}

/** Its form is loaded once it is asked for: most people who are here are invited. */
function NewOrg() {
  const [Form, setForm] = useState<ComponentType | undefined>(undefined);
  const [isLost, setLost] = useState(false);
  const load = () =>
    import("../pages/orgs/new-org.tsx").then(
      ({ NewOrgForm }) => setForm(() => NewOrgForm),
      () => setLost(true),
    );
  return (
    <Panel
      title="New organisation"
      actions={Form === undefined && <Button onClick={() => void load()}>Make an organisation</Button>}
    >
      {Form === undefined ? (
        <p class="quiet">
          {isLost
            ? "Its form could not be loaded: load this page again."
            : "With projects, keys, people and credit of its own. You own it."}
        </p>
      ) : (
        <Form />
      )}
    </Panel>
  );
}

/** What waits for the person; a page of the gateway takes their answers. */
function Invitations() {
  const answer = useAnswer("listInvitations", {});
  const open = answer.value.value?.data ?? [];
  const fault = answer.fault.value;
  if (fault !== undefined) return <FaultNote fault={fault} onRetry={() => answer.refresh()} />;
  if (open.length === 0) return null;
  return (
    <Panel
      title="Invitations"
      actions={
        <a class="button" href="/auth/invitations">
          Accept or decline
        </a>
      }
    >
      {open.map(({ id, org_name: name, role }) => (
        <p key={id} class="break">
          {name}, as {role}
        </p>
      ))}
    </Panel>
  );
}

const Others = ({ orgs }: { readonly orgs: readonly { slug: string; name: string }[] }) => (
  <>
    {isOperator.value && (
      <Panel title="You are an operator">
        <p>
          <a href={pageAddress(OPERATOR, [])}>This installation</a>
        </p>
      </Panel>
    )}
    {orgs.length > 0 && (
      <Panel title="Your organisations">
        {orgs.map(({ slug, name }) => (
          <p key={slug}>
            <OrgLink slug={slug} name={name} />
          </p>
        ))}
      </Panel>
    )}
  </>
);
