/** Above every page of an org that is closed, suspended or about to be erased: what that means, and what can still be done. */
import type { ComponentChildren } from "preact";
import { Link } from "../parts/link.tsx";
import { When } from "../parts/when.tsx";
import { isOperatorPlace, mayCall, type Org, org } from "./session.ts";

export function OrgState() {
  const shown = org.value;
  if (shown === undefined || isOperatorPlace.value) return null;
  const { status, erasure_due_at: due } = shown;
  if (status === "active" && due === undefined) return null;
  return (
    <aside class="org-state" aria-label="State of the organisation">
      <p>
        {status === "closed" && <Closed of={shown} />}
        {status === "suspended" &&
          "The operator of this gateway has suspended this organisation: its keys are refused, and it can only be read. "}
        {due !== undefined && <Due at={due} />}
      </p>
    </aside>
  );
}

function Closed({ of: { closed_at: at, erasure_due_at: due } }: { readonly of: Org }) {
  const ways: ComponentChildren[] = [
    mayCall("exportOrg") && <Link to={["settings", "export"]}>take the data along</Link>,
    mayCall("refundTopup") && <Link to={["credits", "topups"]}>have top-ups refunded</Link>,
    due === undefined && mayCall("requestErasure") && (
      <Link to={["settings", "closing"]}>have the data erased</Link>
    ),
  ].filter((way) => way !== false);
  return (
    <>
      <strong>This organisation is closed</strong>
      {at !== undefined && (
        <>
          {" "}
          since <When at={at} as="day" />
        </>
      )}
      : its keys are refused, and nothing can be made or changed. You can still read
      {ways.map((way, place) => [place === ways.length - 1 ? " and " : ", ", way])}.{" "}
    </>
  );
}

const Due = ({ at }: { readonly at: string }) => (
  <>
    <strong>All its data will be erased</strong> on <When at={at} as="day" />.
    {mayCall("cancelErasure") && (
      <>
        {" "}
        Until then you can <Link to={["settings", "closing"]}>call it off</Link>.
      </>
    )}
  </>
);
