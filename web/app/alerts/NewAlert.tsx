import { graphql } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Empty, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay } from '../shell/viewer';
import '../styles/lists.css';
import { AlertForm, type Input, type Words } from './AlertForm';
import { rules } from './words';

const create = graphql('mutation CreateAlertOnPage($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }');

/** A new alert at any of the levels. The address may name the rule and the target. */
export default function NewAlert({ params }: { params: URLSearchParams }) {
  const may = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  const save = useDo(async (input: Input & Words) => {
    const { createAlert } = await mutate(create, { input });
    go(createAlert ? to('alert', {}, String(createAlert.alert.alertId)) : to('alerts'));
  });
  const rule = params.get('rule') ?? '';
  const start = { ruleType: (rule in rules ? rule : 'SIM') as Input['ruleType'], target: params.get('target') ?? '', lower: '500 MB', upper: '1 GB' };
  return (
    <div className="page">
      <p className="crumbs"><a href={to('alerts')}>Alerts</a></p>
      <div className="heading"><h1>New alert</h1></div>
      {may
        ? <Panel id="new" title="What fires"><AlertForm start={start} verb="Set the alert" save={save} cancel={<a className="button" href={to('alerts')}>Cancel</a>} /></Panel>
        : <Empty>You need the permissions View Monitoring Alerts and Add Monitoring Alerts to set one.</Empty>}
    </div>
  );
}
