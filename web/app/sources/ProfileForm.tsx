import { useId } from 'react';
import type { Problem } from '../graph/problem';
import { counters, directions, type Draft, type Field, fields, formats, units } from './profile';

interface Props {
  draft: Draft;
  change: (draft: Draft) => void;
  /** What the server finds wrong with it. */
  problem?: Problem | undefined;
  /** The profile has its name for good. */
  isNamed?: boolean;
  disabled?: boolean;
}

const zones = Intl.supportedValuesOf('timeZone');
const names = Object.entries(fields) as [Field, string][];

/** How the records of a sender are read: their form, and an expression for each field. */
export function ProfileForm({ draft, change, problem, isNamed = false, disabled = false }: Props) {
  const id = useId();
  const set = (key: 'name' | 'description' | 'records' | 'delimiter' | 'skip' | 'timeZone' | 'dateFormats') => ({
    value: draft[key], onChange: (event: { target: { value: string } }) => change({ ...draft, [key]: event.target.value }),
  });
  const faulty = faultOf(draft, problem);
  return (
    <fieldset className="profile-form" disabled={disabled} aria-label="How records are read">
      <div className="choices">
        {!isNamed && <label>Name of the profile<input required maxLength={256} {...set('name')} /></label>}
        <label>For whom<input maxLength={256} {...set('description')} /></label>
        <Choice label="Form" value={draft.format} of={formats} change={(format) => change({ ...draft, format })} />
        {draft.format === 'JSON' && <label>Records at<input placeholder="the document itself" {...set('records')} /></label>}
        {draft.format === 'CSV' && <label>Separator<input placeholder="," maxLength={1} value={draft.delimiter} onChange={(event) => change({ ...draft, delimiter: event.target.value })} /></label>}
        <Choice label="Volumes are in" value={draft.unit} of={units} change={(unit) => change({ ...draft, unit })} />
        <Choice label="Volumes count" value={draft.counters} of={counters} change={(counters) => change({ ...draft, counters })} />
        {draft.fields.some(({ field }) => field === 'VOLUME') && <Choice label="A volume without direction was" value={draft.direction} of={directions} change={(direction) => change({ ...draft, direction })} />}
        <label>Zone of local times<input list={`${id}-zones`} {...set('timeZone')} /><datalist id={`${id}-zones`}>{zones.map((zone) => <option key={zone} value={zone} />)}</datalist></label>
      </div>
      <div className="fields two">
        <label>Date formats beside RFC 3339, one a line<textarea rows={2} placeholder="dd.MM.yyyy HH:mm" spellCheck={false} {...set('dateFormats')} /></label>
        <label>Leave out records for which this is true<textarea rows={2} className="mono" placeholder={'r.type == "SMS"'} spellCheck={false} {...set('skip')} /></label>
      </div>
      <div className="mapping" role="group" aria-label="Fields">
        <p className="hint">Each field has an expression in CEL; the record is <code>r</code>: <code>r.sim.iccid</code>, <code>r["Phone no"]</code>, <code>r.?apn.orValue("")</code>.</p>
        {draft.fields.map(({ field, expression }, i) => (
          <div key={field} className="mapped">
            <select aria-label={`Field ${i + 1}`} value={field} onChange={(event) => change({ ...draft, fields: draft.fields.with(i, { field: event.target.value as Field, expression }) })}>
              {names.map(([key, name]) => <option key={key} value={key} disabled={key !== field && draft.fields.some((one) => one.field === key)}>{name}</option>)}
            </select>
            <input className="mono" aria-label={`Expression of ${fields[field]}`} aria-invalid={faulty === field} maxLength={1000} spellCheck={false} value={expression} onChange={(event) => change({ ...draft, fields: draft.fields.with(i, { field, expression: event.target.value }) })} />
            {!disabled && <button type="button" className="quiet" aria-label={`Remove ${fields[field]}`} onClick={() => change({ ...draft, fields: draft.fields.filter((_, j) => j !== i) })}>Remove</button>}
          </div>
        ))}
        {!disabled && <p><button type="button" className="quiet" disabled={draft.fields.length === names.length} onClick={() => change({ ...draft, fields: [...draft.fields, { field: names.find(([key]) => !draft.fields.some(({ field }) => field === key))![0], expression: '' }] })}>Add a field</button></p>}
      </div>
    </fieldset>
  );
}

/** The field whose expression a problem is about. */
function faultOf({ fields }: Draft, problem: Problem | undefined): Field | undefined {
  const at = /fields\[(\d+)\]/.exec(problem?.field ?? '')?.[1];
  return at === undefined ? undefined : fields.filter(({ expression }) => expression.trim() !== '')[Number(at)]?.field;
}

const Choice = <K extends string>({ label, value, of, change }: { label: string; value: K; of: Record<K, string>; change: (key: K) => void }) => (
  <label>{label}
    <select aria-label={label} value={value} onChange={(event) => change(event.target.value as K)}>
      {(Object.entries(of) as [K, string][]).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
    </select>
  </label>
);
