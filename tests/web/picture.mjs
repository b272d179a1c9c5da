// What is on a screenshot, found out in the browser itself: it reads PNG.

// Decoded to bytes of red, green, blue, alpha. On a blank page: the lab's policy allows no such addresses.
async function decode(page, pictures, then) {
  const blank = await page.context().newPage();
  try {
    const sources = pictures.map((picture) => `data:image/png;base64,${picture.toString('base64')}`);
    return await blank.evaluate(async ([sources, then]) => {
      const pixels = await Promise.all(sources.map(async (source) => {
        const image = new Image();
        image.src = source;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
      }));
      return then === 'colours' ? new Set(pixels[0]).size : pixels[0].filter((pixel, i) => pixel !== pixels[1][i]).length;
    }, [sources, then]);
  } finally {
    await blank.close();
  }
}

// How many colours there are.
export function colours(page, picture) {
  return decode(page, [picture], 'colours');
}

// Whether more than a few pixels differ.
export async function differ(page, one, other) {
  return (await decode(page, [one, other], 'difference')) > 200;
}
