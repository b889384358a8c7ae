/** The sign-in page. */
export class SignInPage {
  constructor(page) {
    this.page = page;
    this.heading = page.getByRole('heading', { name: 'Sign in' });
    this.username = page.getByLabel('User name');
    this.password = page.getByLabel('Password');
    this.button = page.getByRole('button', { name: 'Sign in' });
    this.refusal = page.getByText('The user name or the password is wrong.');
    this.ended = page.getByText('Your session has ended.');
  }

  /** Opens it and waits until the dashboard has taken over the form. */
  async open(query = '') {
    await this.page.goto(`/ui/sign-in${query}`);
    await this.ready();
  }

  async ready() {
    await this.heading.waitFor();
    await this.page.locator('button[type=submit]:not([disabled])').waitFor();
  }

  async signIn({ username, password }) {
    await this.username.fill(username);
    await this.password.fill(password);
    await this.button.click();
  }
}
