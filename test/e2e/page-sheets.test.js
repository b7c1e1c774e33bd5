// Long forms at the side of their view.
import assert from 'node:assert/strict';
import { base, enter, graph } from './browser.js';
import { accessible, eventually, focused, pageTests } from './tab.js';

const inTab = pageTests();

/** The places with long forms: what opens one, and what it is called. */
const forms = async () => {
  const { subscribers } = await graph('{ subscribers(first: 1) { nodes { physicalId nickname } } }');
  const [{ physicalId, nickname }] = subscribers.nodes;
  return [
    ['#/subscribers', 'New subscriber', 'New subscriber'],
    [`#/subscribers/${physicalId}`, 'Edit the record', `Record of ${physicalId}`],
    [`#/subscribers/${physicalId}`, 'Change …', `Change ${nickname || physicalId}`],
    ['#/alerts/conditions', 'New condition', 'New condition'],
    ['#/alerts/webhooks', 'New webhook', 'New webhook'],
    ['#/alerts/silences', 'New silence', 'New silence'],
    ['#/users', 'New user', 'New user'],
    ['#/users/keys', 'New key', 'New access key'],
  ];
};

for (const [colorScheme, width] of [['light', 1440], ['dark', 390]])
  inTab(`long forms are sheets with their actions in sight, ${width} wide in ${colorScheme} colours`, async (tab) => {
    await enter(tab);
    for (const [place, button, title] of await forms()) {
      await tab.goto(`${base}/${place}`);
      const opener = tab.getByRole('button', { name: button, exact: true });
      await opener.focus();
      await tab.keyboard.press('Enter');
      const sheet = tab.getByRole('dialog', { name: title, exact: true });
      await sheet.waitFor();
      await sheet.getByRole('button', { name: 'Cancel' }).waitFor();
      await sheet.locator('.actions').last().waitFor();
      await eventually(() => sheet.evaluate((element) => {
        const { right, top, bottom } = element.getBoundingClientRect();
        const actions = [...element.querySelectorAll('.actions')].at(-1).getBoundingClientRect();
        return [element.classList.contains('sheet'), right, top, bottom, Math.round(actions.bottom)];
      }), [true, width, 0, 844, 844], title);
      await accessible(tab, title);
      await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), width, title);
      await tab.keyboard.press('Escape');
      await sheet.waitFor({ state: 'detached' });
      await eventually(() => focused(tab), `button ${button}`, title);
    }
  }, { colorScheme, viewport: { width, height: 844 } });

inTab('a sheet is left by a click beside it, and after a question where something was typed or picked', async (tab) => {
  await enter(tab);
  await tab.getByRole('link', { name: 'Subscribers', exact: true }).first().click();
  const sheet = tab.getByRole('dialog', { name: 'New subscriber' });
  const question = tab.getByRole('dialog', { name: 'Discard what you typed?' });
  const open = () => tab.getByRole('button', { name: 'New subscriber' }).click();
  await open();
  await sheet.waitFor();
  await tab.mouse.click(5, 400);
  await sheet.waitFor({ state: 'detached' });
  await eventually(() => focused(tab), 'button New subscriber');

  await open();
  await sheet.getByLabel('Nickname').fill('Typed');
  for (const leave of [() => tab.mouse.click(5, 400), () => tab.keyboard.press('Escape'), () => tab.goBack()]) {
    await leave();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    await eventually(() => sheet.getByLabel('Nickname').inputValue(), 'Typed');
  }
  // A text that is selected beyond the edge.
  const { x, y } = await sheet.getByLabel('Nickname').boundingBox();
  await tab.mouse.move(x + 30, y + 10);
  await tab.mouse.down();
  await tab.mouse.move(5, y + 10, { steps: 4 });
  await tab.mouse.up();
  await eventually(() => question.count(), 0);
  await tab.mouse.click(5, 400);
  await question.getByRole('button', { name: 'Discard' }).click();
  await sheet.waitFor({ state: 'detached' });

  await open();
  const { tariffs } = await graph('{ tariffs(first: 1) { nodes { name } } }');
  await sheet.getByRole('combobox', { name: 'Tariff', exact: true }).click();
  await sheet.getByRole('option', { name: tariffs.nodes[0].name }).first().click();
  await tab.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Discard' }).click();
  await sheet.waitFor({ state: 'detached' });
});

inTab('the field that has the focus is never behind the actions of a sheet', async (tab) => {
  await enter(tab, '#/users');
  await tab.getByRole('button', { name: 'New user' }).click();
  const sheet = tab.getByRole('dialog', { name: 'New user' });
  await sheet.waitFor();
  for (let i = 0; (await focused(tab)) !== 'button Cancel'; i++) {
    assert.ok(i < 60, 'Cancel is not reached');
    await tab.keyboard.press('Tab');
    const hidden = await tab.evaluate(() => {
      const field = document.activeElement;
      const actions = [...document.querySelectorAll('.sheet .actions')].at(-1);
      return !actions.contains(field) && field.getBoundingClientRect().bottom > actions.getBoundingClientRect().top + 1;
    });
    const field = await focused(tab);
    assert.ok(!hidden, field);
  }
}, { viewport: { width: 390, height: 600 } });
