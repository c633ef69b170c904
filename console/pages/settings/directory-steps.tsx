/** How identity providers are told of the directory, in short. */
import { useState } from "preact/hooks";
import { Copy } from "../../parts/copy.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";

type Provider = "entra" | "okta";

export function DirectorySteps({ address }: { readonly address: string }) {
  const [provider, setProvider] = useState<Provider>("entra");
  return (
    <Panel title="Set it up">
      <Tabs
        label="Identity provider"
        value={provider}
        onValue={(value) => setProvider(value as Provider)}
        options={[
          ["entra", "Entra ID"],
          ["okta", "Okta"],
        ]}
      />
      {provider === "entra" ? <Entra address={address} /> : <Okta address={address} />}
      <p class="quiet small">
        A group called admin, billing, member or viewer gives its members that role; without one they are
        members. A directory never makes and never removes an owner. A user whose address is that of a member
        who was invited by hand is joined to that member.
      </p>
    </Panel>
  );
}

const Entra = ({ address }: { readonly address: string }) => (
  <ol class="steps">
    <li>
      In the Microsoft Entra admin center: Enterprise applications, New application, Create your own
      application, any other application.
    </li>
    <li>
      Provisioning, Get started, mode Automatic. Tenant URL is <Copy text={address} what="address" /> and
      Secret token is the token. Test the connection.
    </li>
    <li>
      Mappings, users: keep the user name, the work e-mail address, active, and the names. Groups stay as they
      are.
    </li>
    <li>Users and groups: assign those who shall be members. Groups in groups are not sent.</li>
    <li>Start provisioning, and look below after the first cycle.</li>
  </ol>
);

const Okta = ({ address }: { readonly address: string }) => (
  <ol class="steps">
    <li>
      Applications, Create App Integration, or the application that you sign in with. General, Provisioning:
      SCIM.
    </li>
    <li>
      Provisioning, Integration: the base URL is <Copy text={address} what="address" />, users are identified
      by userName. Choose Push New Users, Push Profile Updates and Push Groups, and HTTP Header with the
      token. Test the connector.
    </li>
    <li>Provisioning, To App: enable Create Users, Update User Attributes, Deactivate Users.</li>
    <li>Assignments: assign people or groups. Push Groups: push those that shall give a role.</li>
  </ol>
);
