/** A key's limits, budget, scopes and habits: shown, and changed in place. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { call } from "../../api/call.ts";
import { ROLE_SCOPES } from "../../api/operations.ts";
import { mayCall, role } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Panel } from "../../parts/panel.tsx";
import { format } from "../../text/org-format.ts";
import { KeyFields, type PlanLimits } from "./key-form.tsx";
import { faultsOf, isWorking, type Key, patchBody, valuesOf } from "./key-values.ts";
import { changedLifetimes, DISCONNECT_OPTIONS, HOLD_OPTIONS, SCOPE_WORDS } from "./key-words.ts";

interface SettingsProps {
  readonly shownKey: Key;
  readonly plan: PlanLimits | undefined;
  readonly mayChange: boolean;
  readonly onChange: () => void;
}

export function KeySettings({ shownKey, plan, mayChange, onChange }: SettingsProps) {
  const [isOpen, setOpen] = useState(false);
  const canOpen = mayChange && isWorking(shownKey);
  return (
    <Panel
      title="Limits and settings"
      actions={
        canOpen &&
        !isOpen && (
          <>
            {mayCall("requestLimits") && (
              <Link to={["tickets", "new"]} filters={{ about: "limits", key: shownKey.id }}>
                Ask for higher limits
              </Link>
            )}
            <Button onClick={() => setOpen(true)}>Change</Button>
          </>
        )
      }
    >
      {isOpen && canOpen ? (
        <Form shownKey={shownKey} plan={plan} onClose={() => setOpen(false)} onChange={onChange} />
      ) : (
        <Settings shownKey={shownKey} />
      )}
    </Panel>
  );
}

const textOf = (options: readonly (readonly [string, string])[], value: string): string =>
  options.find(([each]) => each === value)?.[1] ?? value;

function Settings({ shownKey: key }: { readonly shownKey: Key }) {
  const { count, money } = format.value;
  const limit = (value: number | undefined) => (value === undefined ? "as the plan allows" : count(value));
  const { daily_micro: daily, hard } = key.budget;
  return (
    <Facts
      rows={[
        ["Requests a minute", limit(key.limits.rpm)],
        ["Tokens a minute", limit(key.limits.tpm)],
        ["Calls at once", limit(key.limits.concurrency)],
        [
          "Budget a day",
          daily === 0
            ? "none of its own"
            : `${money(daily)}, ${hard ? "then calls are refused" : "only told"}`,
        ],
        ["Where credit is short", textOf(HOLD_OPTIONS, key.hold ?? "")],
        ["Where the client leaves", textOf(DISCONNECT_OPTIONS, key.on_disconnect)],
        ["What it may do", key.scopes.map((scope) => SCOPE_WORDS[scope]).join(" · ")],
        ["API version", key.svc_version],
      ]}
    />
  );
}

interface FormProps {
  readonly shownKey: Key;
  readonly plan: PlanLimits | undefined;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function Form({ shownKey, plan, onClose, onChange }: FormProps) {
  const [values, setValues] = useState(() => valuesOf(shownKey));
  const act = useAct();
  const body = patchBody(shownKey, values);
  const save = () => {
    if (body === undefined || Object.keys(faultsOf(values)).length > 0) return;
    act.run(async () => {
      await call("updateKey", { params: { id: shownKey.id }, body });
      onChange();
      onClose();
    });
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <KeyFields
        values={values}
        onValues={setValues}
        isTried
        fault={act.fault}
        plan={plan}
        scopes={ROLE_SCOPES[role.value ?? "viewer"]}
        lifetimes={changedLifetimes(shownKey.expires_at !== undefined)}
      />
      <div class="row">
        <Button kind="main" type="submit" isBusy={act.isBusy} disabled={body === undefined}>
          Save changes
        </Button>
        <Button onClick={onClose}>Discard</Button>
      </div>
    </form>
  );
}
