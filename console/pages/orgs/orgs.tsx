/** The page "Your organisations": those that the person is in, a new one, and leaving the one that is shown. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answers.ts";
import { OrgLink } from "../../app/pick-org.tsx";
import { go, pageAddress, segments } from "../../app/router.ts";
import { listedOrg, mayCall, me, org, orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { isLastOwner } from "../members/member-words.ts";
import { RemoveWithKeys } from "../members/remove-member.tsx";
import { roleSentence } from "../members/role-words.ts";
import { NewOrgForm } from "./new-org.tsx";

type ListedOrg = NonNullable<typeof me.value>["orgs"][number];

export function Orgs() {
  return segments.value[2] === "new" ? <NewOrg /> : <OrgList />;
}

const NewOrg = () => (
  <Page title="New organisation" about={<Link to={["your-organisations"]}>Your organisations</Link>}>
    <Panel title="The organisation">
      <NewOrgForm />
    </Panel>
  </Page>
);

function OrgList() {
  const invitations = useAnswer("listInvitations", {});
  const waiting = invitations.value.value?.data.length ?? 0;
  return (
    <Page
      title="Your organisations"
      about="Each has projects, keys, people and credit of its own. The one that you open is where your next sign-in begins."
      actions={
        <Button kind="main" onClick={() => go(pageAddress(orgSlug.value, ["your-organisations", "new"]))}>
          New organisation
        </Button>
      }
    >
      <FaultNote fault={invitations.fault.value} onRetry={invitations.refresh} />
      {waiting > 0 && (
        <Note>
          <div class="row">
            <span>
              {waiting === 1 ? "An invitation waits for you." : `${waiting} invitations wait for you.`}
            </span>
            <a href="/auth/invitations">Accept or decline</a>
          </div>
        </Note>
      )}
      <Panel title="Organisations">
        <Table label="Organisations" columns={COLUMNS} rows={me.value?.orgs ?? []} keyOf={({ id }) => id} />
      </Panel>
      {org.value !== undefined && <Leave />}
    </Page>
  );
}

const LOCKS = {
  session_expired: "asks you to sign in again",
  ip_not_allowed: "not open from your network",
  two_factor_required: "asks for a second factor",
} as const;

const COLUMNS: readonly Column<ListedOrg>[] = [
  {
    head: "Name",
    cell: ({ id, slug, name }) => (
      <>
        <OrgLink slug={slug} name={name} />
        <div class="row small quiet">
          <code>{slug}</code>
          {id === listedOrg.value?.id && <Badge tone="accent">shown now</Badge>}
        </div>
      </>
    ),
  },
  {
    head: "Your role",
    cell: ({ role }) =>
      role !== undefined && (
        <span class="sentence">
          {role} <span class="small quiet">{roleSentence(role)}</span>
        </span>
      ),
  },
  {
    head: "State",
    cell: (each) => (
      <span class="row">
        <Badge tone={each.status === "active" ? "good" : "warn"}>{each.status}</Badge>
        {"locked" in each && <Badge tone="warn">{LOCKS[each.locked as keyof typeof LOCKS]}</Badge>}
      </span>
    ),
  },
];

/** The last owner is told so before they try. */
function Leave() {
  const [isAsked, setAsked] = useState(false);
  const shown = org.value;
  const self = me.value?.user.id ?? "";
  const asksMembers = shown?.role === "owner" && mayCall("listMembers");
  const members = useAnswer("listMembers", asksMembers ? { params: { org: shown?.id ?? "" } } : undefined);
  const all = members.value.value?.data ?? [];
  const own = all.find(({ user_id: id }) => id === self);
  const isLast = own !== undefined && isLastOwner(own, all);
  const isKnown = !asksMembers || own !== undefined;
  return (
    <Panel
      title={`Leave ${shown?.name}`}
      actions={
        isKnown &&
        !isLast && (
          <Button kind="danger" onClick={() => setAsked(true)}>
            Leave organisation
          </Button>
        )
      }
    >
      <FaultNote fault={members.fault.value} onRetry={members.refresh} />
      {isLast ? (
        <p>
          You are its only owner who has signed in, and an organisation keeps one. Make{" "}
          <Link to={["members"]}>another member</Link> an owner, or hand it over to them, before you leave.
        </p>
      ) : (
        <p class="quiet">It opens to you no more, until somebody invites you again.</p>
      )}
      {isAsked && <RemoveWithKeys userId={self} who={undefined} onClose={() => setAsked(false)} />}
    </Panel>
  );
}
