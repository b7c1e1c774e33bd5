// What needs attention, and when subscribers were seen last.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { accessible, downloaded, eventually, pageTests } from './tab.js';

const inTab = pageTests();
let made = 0;

/** A subscriber that is in use since long ago and was never seen. */
async function withSilent(run) {
  const physicalId = `894499900000000077${made++}`;
  const { operators, tariffs } = await graph('{ operators(first: 1) { nodes { code } } tariffs(first: 1) { nodes { name } } }');
  await graph('mutation($input: CreateSubscriberInput!) { createSubscriber(input: $input) { subscriber { id } } }', {
    input: { physicalId, subscriberId: `44700000077${made}`, nickname: 'never seen', operatorCode: operators.nodes[0].code, tariffName: tariffs.nodes[0].name, contractLength: 12, connectionDate: '2025-01-01T00:00:00Z', expiryDate: '2030-01-01T00:00:00Z' },
  });
  try {
    await run();
  } finally {
    await graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { id } } }', { input: { physicalId, isActive: false } });
  }
}

inTab('each number of what needs attention leads to the list that it counts', async (tab) => {
  const { createWebhook } = await graph('mutation($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { webhookId } } }', {
    input: { name: 'out of order', url: 'http://127.0.0.1:9/', eventTypes: ['ALERT_FIRED'], scope: { all: true } },
  });
  const { webhookId } = createWebhook.webhook;
  try {
    await graph('mutation($input: TestWebhookInput!) { testWebhook(input: $input) { delivery { deliveryId } } }', { input: { webhookId } });
    for (;;) {
      const { webhooks } = await graph('{ webhooks(first: 0, filter: { failingSince: { ne: null } }) { totalCount } }');
      if (webhooks.totalCount === 1) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await withSilent(async () => {
      await enter(tab);
      const panel = tab.getByRole('region', { name: 'Needs attention' });
      await panel.waitFor();
      await eventually(() => tab.locator('section.panel h2').first().textContent(), 'Needs attention');
      await accessible(tab, 'what needs attention');
      const linkOf = (words) => panel.getByRole('link', { name: new RegExp(words) });
      const numberOf = async (text) => Number(/^[\d,]+/.exec(await text.textContent())[0].replaceAll(',', ''));
      for (const words of ['silent for 24 hours', 'barred']) {
        const before = await numberOf(linkOf(words));
        await linkOf(words).click();
        await tab.waitForURL(/#\/subscribers/);
        const listed = await numberOf(tab.getByRole('heading', { level: 2, name: /^[\d,]+ subscribers?$/ }));
        await enter(tab);
        const after = await numberOf(linkOf(words));
        assert.ok(before <= listed && listed <= after, `${words}: ${before}, then ${listed} are listed, then ${after}`); // more fall silent meanwhile
      }
      await panel.getByRole('link', { name: '1 webhook fails', exact: true }).click();
      await tab.getByText('Only those that fail.').waitFor();
      const listed = tab.getByRole('list', { name: 'Webhooks', exact: true }).getByRole('listitem');
      await listed.filter({ hasText: 'out of order' }).waitFor();
      await eventually(() => listed.count(), 1);
      await tab.goBack();
      await panel.getByRole('link', { name: '1 address refused mail', exact: true }).click();
      await tab.getByText('Only addresses that refused mail.').waitFor();
      await tab.getByRole('button', { name: 'Restore mail to refused@demo.example' }).waitFor();
      await eventually(() => tab.getByRole('button', { name: /^Restore mail to/ }).count(), 1);
      await tab.goBack();
      await panel.waitFor();
      await eventually(() => panel.getByRole('link', { name: /^0 / }).count(), 0);
    });
  } finally {
    await graph('mutation($input: DeleteWebhookInput!) { deleteWebhook(input: $input) { webhook { webhookId } } }', { input: { webhookId } });
  }
});

inTab('subscribers are listed by when they were seen last', async (tab) => {
  await withSilent(async () => {
    await enter(tab, '#/subscribers?columns=lastSeen');
    const rows = tab.locator('table.rows tbody tr[aria-rowindex]');
    await rows.first().waitFor();
    await tab.getByRole('link', { name: 'Last seen' }).click();
    await tab.locator('th[aria-sort="descending"]').getByText('Last seen').waitFor();
    await tab.getByRole('button', { name: 'Add a filter' }).click();
    const form = tab.getByRole('dialog', { name: 'Add a filter' });
    await form.getByLabel('Field').selectOption({ label: 'Last seen' });
    await form.getByLabel('Condition').selectOption({ label: 'is within the last' });
    await form.getByLabel('Value').selectOption({ label: '30 days' });
    await form.getByRole('button', { name: 'Apply' }).click();
    await tab.getByRole('button', { name: 'Last seen is within the last 30 days', exact: true }).waitFor();
    await tab.waitForURL(/where=lastSeenAt.ge.720/);
    const file = await downloaded(tab, () => tab.getByRole('button', { name: 'Download Subscribers as CSV' }).click());
    const lines = file.text.trimEnd().split('\r\n');
    assert.equal(lines[0], 'nickname,lastSeen');
    const seen = lines.slice(1).map((line) => Date.parse(line.slice(line.lastIndexOf(',') + 1)));
    assert.ok(seen.length > 0 && seen.every((at) => at > Date.now() - 31 * 86_400_000), lines[1]);
    assert.deepEqual(seen, [...seen].sort((a, b) => b - a));
    await tab.getByRole('button', { name: /^Remove the filter Last seen/ }).click();
    await tab.getByRole('link', { name: 'Silent 24 h' }).click();
    await tab.waitForURL(/state=silent/);
    await tab.getByRole('link', { name: 'Last seen' }).click();
    await tab.locator('th[aria-sort="ascending"]').getByText('Last seen').waitFor();
    await rows.first().getByText('never', { exact: true }).waitFor();
  });
});
