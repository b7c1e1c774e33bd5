import type { GraphiQLPlugin } from '@graphiql/react';
import { Bulb } from '../shell/icons';
import { useViewer } from '../shell/viewer';
import { groups } from './examples';
import { useOpen } from './open';

/** Ready questions; a click opens and runs one. */
function Examples() {
  const open = useOpen();
  const { permissions, company } = useViewer();
  return (
    <div className="examples">
      <h2>Ready questions</h2>
      {groups.map((group) => (
        <section key={group.name}>
          <h3>{group.name}</h3>
          <ul>
            {group.examples.map((example) => {
              const missing = example.needs.filter((permission) => !permissions.includes(permission));
              return (
                <li key={example.name}>
                  <button
                    type="button"
                    disabled={missing.length > 0}
                    title={missing.length > 0 ? `Needs ${missing.join(', ')}` : undefined}
                    onClick={() => open({ query: example.query, variables: textOf(example.variables(company.timeZone)) }, true)}
                  >
                    <strong>{example.name}</strong>
                    <span>{example.about}</span>
                  </button>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}

const textOf = (variables: object) => (Object.keys(variables).length > 0 ? JSON.stringify(variables, null, 2) : '');

export const examplesPlugin: GraphiQLPlugin = { title: 'Ready questions', icon: Bulb, content: Examples };
