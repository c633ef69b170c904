/** For a person who is in no org yet, in none of this name, or whose session does not open it. */

import { useAnswer } from "../api/answers.ts";
import { signInAgain } from "../api/call.ts";
import { Button } from "../parts/button.tsx";
import { FaultNote } from "../parts/note.tsx";
import { Page, Panel } from "../parts/panel.tsx";
import { pageAddress } from "./router.ts";
import { isOperator, listedOrg, me, OPERATOR, orgSlug, signOut } from "./session.ts";

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
  return (
    <Page title={others.length === 0 ? "You are in no organisation yet" : "No such organisation"}>
      <p>
        {others.length === 0
          ? "Accept an invitation, or ask whoever runs this gateway to invite you."
          : `You are not in "${orgSlug.value}". Choose one of yours.`}
      </p>
      <Others orgs={others} />
      <Invitations />
      <div class="row">
        <Button onClick={() => void signOut()}>Sign out</Button>
      </div>
    </Page>
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
            <a href={pageAddress(slug, [])}>{name}</a>
          </p>
        ))}
      </Panel>
    )}
  </>
);
