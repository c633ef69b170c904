/** A choice of the roles that one may give, each with what it may do. */
import { useId } from "preact/hooks";
import { type Role, roleSentence, rolesToGive } from "./role-words.ts";

interface RoleChoiceProps {
  readonly value: Role;
  readonly onValue: (role: Role) => void;
  /** The role of whoever gives it. */
  readonly own: Role | undefined;
}

export function RoleChoice({ value, onValue, own }: RoleChoiceProps) {
  const name = useId();
  return (
    <fieldset class="roles">
      <legend>Role</legend>
      {rolesToGive(own).map((role) => (
        <label key={role} class="check">
          <input type="radio" name={name} checked={role === value} onChange={() => onValue(role)} />
          <span>
            <strong>{role}</strong> <span class="quiet">{roleSentence(role)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
