import { type FormEvent, useState } from 'react';
import { dateOf, startOfDay } from '../format/time';
import { graphql, type VariablesOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { nouns } from '../picker/choices';
import { DayField } from '../picker/Date';
import { Pick, Suggested } from '../picker/Picker';
import { EditFailure } from '../shell/EditFailure';
import { go, toSubscriber } from '../shell/route';
import { useViewer, useZone } from '../shell/viewer';
import { given, Reason } from '../ui/Reason';
import { Sheet } from '../ui/Sheet';

const create = graphql('mutation CreateSubscriber($input: CreateSubscriberInput!) { createSubscriber(input: $input) { subscriber { physicalId } } }');
const edit = graphql('mutation EditRecord($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { physicalId } } }');
const now = graphql(`
  query RecordNow($physicalId: String!) {
    subscriber(by: {physicalId: $physicalId}) { version kind subscriberId imsi fixedIpAddress operatorCode tariffName contractLength connectionDate expiryDate }
  }
`);

type New = VariablesOf<typeof create>['input'];

/** What the form changes of a subscriber. */
export interface Editable {
  version: string;
  kind: NonNullable<New['kind']>;
  physicalId: string;
  subscriberId: string;
  imsi: string | null;
  fixedIpAddress: string | null;
  operatorCode: string;
  tariffName: string | null;
  contractLength: number | null;
  connectionDate: string;
  expiryDate: string;
}

const kinds: Record<Editable['kind'], string> = { CELLULAR: 'Cellular', NON_IP: 'Non-IP', SATELLITE: 'Satellite' };

/** Adds a subscriber, or changes the record of one. */
export function SubscriberForm({ of, close, saved }: { of: Editable | null; close: () => void; saved?: () => void }) {
  const timeZone = useZone();
  const { isRestricted } = useViewer();
  const today = dateOf(Date.now(), timeZone);
  const [values, setValues] = useState(() => ({
    kind: of?.kind ?? 'CELLULAR', physicalId: of?.physicalId ?? '', subscriberId: of?.subscriberId ?? '', imsi: of?.imsi ?? '', fixedIpAddress: of?.fixedIpAddress ?? '', nickname: '', operatorCode: of?.operatorCode ?? '',
    tariffName: of?.tariffName ?? '', contractLength: of?.contractLength === null || of === null ? '12' : String(of.contractLength), groupId: '',
    connectionDate: of ? dateOf(of.connectionDate, timeZone) : today, expiryDate: of ? dateOf(of.expiryDate, timeZone) : '',
  }));
  const [before] = useState(values);
  const [reason, setReason] = useState('');
  const at = (day: string) => new Date(startOfDay(Date.parse(`${day}T12:00:00Z`), timeZone)).toISOString();
  const put = (key: keyof typeof values) => (value: string | number | null) => setValues((values) => ({ ...values, [key]: value === null ? '' : String(value) }));
  const putDay = (key: 'connectionDate' | 'expiryDate') => (value: string) => put(key)(dateOf(value, timeZone));
  const made = useMadeFrom(of, async () => (await readNow(now, { physicalId: of!.physicalId })).subscriber, {
    kind: put('kind'), subscriberId: put('subscriberId'), imsi: put('imsi'), fixedIpAddress: put('fixedIpAddress'), operatorCode: put('operatorCode'), tariffName: put('tariffName'),
    contractLength: put('contractLength'), connectionDate: putDay('connectionDate'), expiryDate: putDay('expiryDate'),
  }, timeZone);
  const save = useDo(async () => {
    const { kind, physicalId, contractLength, groupId, connectionDate, expiryDate, nickname, fixedIpAddress: address, ...texts } = values;
    const fixedIpAddress = address.trim() || null;
    if (of === null) {
      const { createSubscriber } = await mutate(create, { input: {
        ...texts, fixedIpAddress, kind, nickname, physicalId: physicalId.trim(), contractLength: Number(contractLength), connectionDate: at(connectionDate), expiryDate: at(expiryDate), ...(groupId && { groupId: Number(groupId) }), ...given(reason),
      } });
      close();
      if (createSubscriber) go(toSubscriber(createSubscriber.subscriber.physicalId));
      return;
    }
    const all = { kind, ...texts, fixedIpAddress, contractLength: Number(contractLength), connectionDate: at(connectionDate), expiryDate: at(expiryDate) };
    const changed = Object.fromEntries(Object.entries(all).filter(([key]) => values[key as keyof typeof values] !== before[key as keyof typeof before]));
    await made.send((expectedVersion) => mutate(edit, { input: { physicalId, expectedVersion, ...changed, ...given(reason) } }), Object.keys(changed));
    saved?.();
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  const set = (key: keyof typeof values) => ({ value: values[key], onChange: (event: { target: { value: string } }) => setValues({ ...values, [key]: event.target.value }) });
  const picked = (key: keyof typeof values) => ({ value: values[key], change: (value: string) => setValues((now) => ({ ...now, [key]: value })) });
  return (
    <Sheet title={of === null ? 'New subscriber' : `Record of ${of.physicalId}`} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <div className="choices">
          <label>Kind<select {...set('kind')}>{Object.entries(kinds).map(([key, name]) => <option key={key} value={key}>{name}</option>)}</select></label>
          {of === null && <label>ICCID, device EUI or IMEI<input required maxLength={25} autoFocus {...set('physicalId')} /></label>}
          {!isRestricted && <label>MSISDN or subscription ID<input required maxLength={256} {...set('subscriberId')} /></label>}
          {!isRestricted && <label>IMSI<input maxLength={15} {...set('imsi')} /></label>}
          {!isRestricted && <label>Fixed IP address<input maxLength={43} placeholder="none" {...set('fixedIpAddress')} /></label>}
          {of === null && <label>Nickname<input maxLength={256} {...set('nickname')} /></label>}
          <Suggested of={nouns.operatorCode} label="Operator, by its code" isRequired maxLength={256} placeholder="23415" {...picked('operatorCode')} />
          {(of === null || of.tariffName !== null) && <Pick of={nouns.tariff} label="Tariff" isRequired {...picked('tariffName')} />}
          {(of === null || of.contractLength !== null) && <label>Contract in months<input type="number" min={0} required {...set('contractLength')} /></label>}
          {!isRestricted && <DayField label="Begins" isRequired {...picked('connectionDate')} />}
          <DayField label="Ends" isRequired min={values.connectionDate} {...picked('expiryDate')} />
          {of === null && <Pick of={nouns.group} label="Group" placeholder="none" {...picked('groupId')} />}
        </div>
        <Reason value={reason} change={setReason} />
        <EditFailure save={save} of={made} subject={['Subscriber', values.physicalId]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy}>{of === null ? 'Add' : 'Save'}</button>
        </p>
      </form>
    </Sheet>
  );
}
