import { type FormEvent, useState } from 'react';
import { nouns, useGroupNames } from '../picker/choices';
import { DayField } from '../picker/Date';
import { Pick, Suggested } from '../picker/Picker';
import { Close } from '../shell/icons';
import { useMay } from '../shell/viewer';
import { Popover } from '../ui/Popover';
import { changedTo, charts, comparisons, type Definition, intervals, measures, ranks, spans, splits } from './question';

interface Props {
  of: Definition;
  change: (next: Definition) => void;
}

/** What a question is made of, each a choice. */
export function Controls({ of: d, change }: Props) {
  const set = (part: Partial<Definition>) => change(changedTo(d, part));
  const maySee = useMay('VIEW_SUBSCRIBER');
  const known = splits.filter(([key]) => key !== 'SUBSCRIBER' || maySee);
  return (
    <div className="controls" role="group" aria-label="The question">
      <Choice name="Show" words={measures} value={d.measure} set={(measure) => set({ measure })} />
      <div className="control">
        <span>Of</span>
        <Subject of={d} set={set} />
      </div>
      <Choice name="Split by" words={known} value={d.split ?? null} none="nothing" set={(split) => set({ split })} />
      {!ranks(d) && d.chart !== 'NUMBER' && d.chart !== 'HEAT_MAP' && <Choice name="By" words={intervals} value={d.interval} set={(interval) => set({ interval })} />}
      <Choice name="Span" words={spans} value={d.span} set={(span) => set({ span, ...(span === 'DAYS' && lastWeekOf()) })} />
      {d.span === 'DAYS' && (
        <>
          <DayField label="First day" isControl value={d.firstDay ?? ''} change={(firstDay) => set({ firstDay: firstDay || null })} />
          <DayField label="Last day" isControl value={d.lastDay ?? ''} change={(lastDay) => set({ lastDay: lastDay || null })} />
        </>
      )}
      <Choice name="Compare with" words={comparisons} value={d.compare ?? null} none="nothing" set={(compare) => set({ compare })} />
      <Choice name="As" words={charts} value={d.chart} set={(chart) => set({ chart })} />
    </div>
  );
}

/** The days that From … to … begins with. */
export function lastWeekOf(): Partial<Definition> {
  const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  return { firstDay: day(7), lastDay: day(1) };
}

interface ChoiceProps<K extends string> {
  name: string;
  words: [K, string][];
  value: K | null;
  none?: string;
  set: (key: K) => void;
}

export function Choice<K extends string, N extends string | undefined = undefined>({ name, words, value, none, set }: Omit<ChoiceProps<K>, 'set' | 'none'> & { none?: N; set: (key: N extends string ? K | null : K) => void }) {
  return (
    <label className="control">
      <span>{name}</span>
      <select value={value ?? ''} onChange={(event) => set((event.target.value || null) as K)}>
        {none && <option value="">{none}</option>}
        {words.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
      </select>
    </label>
  );
}

type Whose = Pick<Definition, 'groupId' | 'tagName' | 'physicalId'>;

const company: Whose = { groupId: null, tagName: null, physicalId: null };
const kinds: [string, string][] = [['groupId', 'Group'], ['tagName', 'Tag'], ['physicalId', 'Subscriber']];

/** Whose usage it is: the company's without a chip. */
export function Subject({ of: d, none = 'all that you see', set }: { of: Whose; none?: string; set: (part: Whose) => void }) {
  const maySee = useMay('VIEW_SUBSCRIBER');
  const names = useGroupNames([d.groupId]);
  const text = d.groupId !== null ? `Group is ${names.get(String(d.groupId)) ?? d.groupId}` : d.tagName !== null ? `Tag is ${d.tagName}` : d.physicalId !== null ? `Subscriber is ${d.physicalId}` : null;
  if (!maySee) return <span className="chip">{text ?? none}</span>;
  return text ? (
    <span className="chip">
      <Popover button={text} label="Change whose usage it is" className="bare">{(close) => <SubjectForm of={d} done={(next) => { close(); set(next); }} />}</Popover>
      <button type="button" aria-label={`Remove the filter ${text}`} onClick={() => set(company)}><Close /></button>
    </span>
  ) : (
    <Popover button={none} label="Choose whose usage it is" className="add">{(close) => <SubjectForm of={d} done={(next) => { close(); set(next); }} />}</Popover>
  );
}

function SubjectForm({ of: d, done }: { of: Whose; done: (part: Whose) => void }) {
  const [kind, setKind] = useState(d.physicalId !== null ? 'physicalId' : d.tagName !== null ? 'tagName' : 'groupId');
  const [value, setValue] = useState(String(d.groupId ?? d.tagName ?? d.physicalId ?? ''));
  const isKnown = kind === 'groupId' ? /^[1-9]\d{0,8}$/.test(value.trim()) : value.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isKnown) done({ ...company, [kind]: kind === 'groupId' ? Number(value) : value.trim() });
  };
  return (
    <form className="condition" onSubmit={submit} noValidate>
      <label>Usage of a
        <select autoFocus value={kind} onChange={(event) => { setKind(event.target.value); setValue(''); }}>
          {kinds.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
        </select>
      </label>
      {kind === 'groupId' && <Pick of={nouns.group} label="Which" value={value} change={setValue} />}
      {kind === 'tagName' && <Suggested of={nouns.tag} label="Which" value={value} change={setValue} />}
      {kind === 'physicalId' && <label>ICCID, device EUI or IMEI<input value={value} spellCheck={false} autoComplete="off" onChange={(event) => setValue(event.target.value)} /></label>}
      <p className="hint">Usage has totals of the company, a group, a tag and a subscriber. For an operator or a tariff, split by it.</p>
      <p className="actions"><button type="submit" className="primary" disabled={!isKnown}>Apply</button></p>
    </form>
  );
}
