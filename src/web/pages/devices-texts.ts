// The words of the page about devices that get notifications.

export const devicesTexts = {
  title: 'Devices',
  sentence: (count: number) =>
    count === 0
      ? 'No device gets notifications.'
      : `${count} ${count === 1 ? 'device gets' : 'devices get'} notifications.`,
  lead: 'Notifications arrive on this device also while no page is open, as long as its browser runs.',
  recipient: 'Recipient',
  name: 'Name of this device',
  add: 'Notify this device',
  device: 'Device',
  user: 'Added by',
  since: 'Since',
  remove: 'Remove',
  noScript: 'Adding a device needs JavaScript.',
  unable: 'This browser cannot show notifications of this site. It needs https, and on iPhones the installed app.',
  blocked: 'Notifications of this site are blocked in this browser. Allow them in its settings for this site.',
  failed: 'The push service of this browser did not answer',
  link: 'Notifications on this device',
} as const;
