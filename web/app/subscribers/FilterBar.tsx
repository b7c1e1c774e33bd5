import { type FormEvent, useId, useMemo, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Close } from '../shell/icons';
import { go, toSubscribers } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Popover } from '../ui/Popover';
import { type Field, fieldOf, fields, type Kind, operatorsOf } from './fields';
import { type Condition, conditionsOf, faultOf, states, withConditions, wordsOf } from './filters';
import { changed } from '../shell/route';

const known = graphql('query Known { groups(first: 100) { nodes { groupId name } pageInfo { hasNextPage } } tags(first: 100) { nodes { name } } operators(first: 100) { nodes { name code } } tariffs(first: 100) { nodes { name } } }');

/** What fields can be compared with, as far as the page knows it. */
export interface Values {
  groups: ReadonlyMap<string, string>;
  /** There are groups beside those. */
  moreGroups: boolean;
  of: Record<string, string[]>;
}

export function useValues(): Values {
  const { data } = useAsk(useMay('VIEW_SUBSCRIBER') ? known : null);
  return useMemo(() => ({
    groups: new Map(data?.groups?.nodes.map(({ groupId, name }) => [String(groupId), name])),
    moreGroups: data?.groups?.pageInfo.hasNextPage ?? false,
    of: {
      tags: data?.tags?.nodes.map(({ name }) => name) ?? [],
      operatorName: data?.operators?.nodes.map(({ name }) => name) ?? [],
      operatorCode: data?.operators?.nodes.map(({ code }) => code) ?? [],
      tariffName: data?.tariffs?.nodes.map(({ name }) => name) ?? [],
    },
  }), [data]);
}

/** The state and the conditions of the list, each to be changed and taken away. All of it stands in the address. */
export function FilterBar({ params }: { params: URLSearchParams }) {
  const values = useValues();
  const conditions = conditionsOf(params);
  const state = params.get('state') ?? '';
  const set = (next: Condition[]) => go(toSubscribers(withConditions(params, next)));
  const put = (i: number, condition: Condition) => set(i < conditions.length ? conditions.map((one, j) => (i === j ? condition : one)) : [...conditions, condition]);
  return (
    <div className="filters">
      <nav className="switch" aria-label="State">
        <a href={toSubscribers(changed(params, { state: null }))} aria-current={state === '' ? 'true' : undefined}>All</a>
        {Object.entries(states).map(([key, { name }]) => (
          <a key={key} href={toSubscribers(changed(params, { state: key }))} aria-current={state === key ? 'true' : undefined}>{name}</a>
        ))}
      </nav>
      {conditions.map((condition, i) => {
        const words = wordsOf(condition, values.groups);
        return (
          <span key={`${i}${words}`} className="chip">
            {condition.field === 'search' ? words : (
              <Popover button={words} label="Change the filter" className="bare">
                {(close) => <ConditionForm of={condition} values={values} done={(next) => { close(); put(i, next); }} />}
              </Popover>
            )}
            <button type="button" aria-label={`Remove the filter ${words}`} onClick={() => set(conditions.filter((_, j) => i !== j))}><Close /></button>
          </span>
        );
      })}
      <Popover button="Add a filter" label="Add a filter" className="add">
        {(close) => <ConditionForm values={values} done={(next) => { close(); put(conditions.length, next); }} />}
      </Popover>
      {conditions.length > 1 && <a href={toSubscribers(withConditions(params, []))}>Remove all</a>}
    </div>
  );
}

interface FormProps {
  of?: Condition;
  values: Values;
  done: (condition: Condition) => void;
}

/** A field, how it is compared, and with what. */
function ConditionForm({ of, values, done }: FormProps) {
  const [key, setKey] = useState(of?.field ?? 'nickname');
  const field = fieldOf(key)!;
  const operators = operatorsOf(field);
  const [chosen, setChosen] = useState(of?.operator ?? '');
  const operator = operators.find((one) => one.key === chosen) ?? operators[0]!;
  const [value, setValue] = useState(of?.value ?? '');
  const [tried, setTried] = useState(false);
  const fault = operator.bare ? null : operator.key === 'in' ? (value.trim() === '' ? 'Write values with commas between them.' : null) : faultOf(field, value);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault === null) done({ field: key, operator: operator.key, value: operator.bare ? '' : value.trim() });
  };
  return (
    <form className="condition" onSubmit={submit} noValidate>
      <label>Field
        <select autoFocus value={key} onChange={(event) => { setKey(event.target.value); setChosen(''); setValue(''); setTried(false); }}>
          {fields.map(({ key, name }) => <option key={key} value={key}>{name}</option>)}
        </select>
      </label>
      <label>Condition
        <select value={operator.key} onChange={(event) => setChosen(event.target.value)}>
          {operators.map(({ key, name }) => <option key={key} value={key}>{name}</option>)}
        </select>
      </label>
      {!operator.bare && <Value field={field} value={value} change={setValue} values={values} fault={tried ? fault : null} />}
      <p className="actions"><button type="submit" className="primary">Apply</button></p>
    </form>
  );
}

const placeholders: Partial<Record<Kind, string>> = { bytes: 'such as 500 MB', group: 'The number of a group' };

function Value({ field, value, change, values, fault }: { field: Field; value: string; change: (value: string) => void; values: Values; fault: string | null }) {
  const id = useId();
  const choices = field.choices ?? (field.kind === 'group' && !values.moreGroups ? [...values.groups] : null);
  const missing = value !== '' && !choices?.some(([key]) => key === value);
  const common = { value, 'aria-invalid': fault !== null, 'aria-describedby': fault ? `${id}-fault` : undefined };
  return (
    <label>Value
      {choices ? (
        <select {...common} onChange={(event) => change(event.target.value)}>
          <option value="" disabled>Choose …</option>
          {choices.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
          {missing && <option value={value}>{value}</option>}
        </select>
      ) : (
        <input {...common} type={field.kind === 'date' ? 'date' : 'text'} placeholder={placeholders[field.kind]} list={`${id}-known`} spellCheck={false} autoComplete="off" onChange={(event) => change(event.target.value)} />
      )}
      <datalist id={`${id}-known`}>
        {field.kind === 'group' && [...values.groups].map(([key, name]) => <option key={key} value={key}>{name}</option>)}
        {values.of[field.key]?.map((one) => <option key={one} value={one} />)}
      </datalist>
      {fault && <span className="fault" id={`${id}-fault`} role="alert">{fault}</span>}
    </label>
  );
}
