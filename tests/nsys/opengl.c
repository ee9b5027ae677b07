// Draws ten frames of nested KHR_debug groups and markers with OpenGL: any software driver will do.
// With an argument it draws off screen through EGL, without a display; otherwise through GLX.

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <stdio.h>
#include <unistd.h>

enum { SIDE = 256, FRAMES = 10 };

static int surfaceless_context(void) {
    PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = get_display ? get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL) : NULL;
    EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE}, count = 0;
    EGLint size[] = {EGL_WIDTH, SIDE, EGL_HEIGHT, SIDE, EGL_NONE};
    EGLConfig config;
    if (!display || !eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API) ||
        !eglChooseConfig(display, wanted, &config, 1, &count) || !count)
        return 0;
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    return context && surface && eglMakeCurrent(display, surface, surface, context);
}

static int window_context(Display **display, Window *window) {
    int wanted[] = {GLX_RGBA, GLX_DOUBLEBUFFER, None};
    *display = XOpenDisplay(NULL);
    XVisualInfo *visual = *display ? glXChooseVisual(*display, DefaultScreen(*display), wanted) : NULL;
    if (!visual) return 0;
    Window root = RootWindow(*display, visual->screen);
    XSetWindowAttributes attributes = {.colormap = XCreateColormap(*display, root, visual->visual, AllocNone)};
    *window = XCreateWindow(*display, root, 0, 0, SIDE, SIDE, 0, visual->depth, InputOutput, visual->visual, CWColormap,
                            &attributes);
    XMapWindow(*display, *window);
    GLXContext context = glXCreateContext(*display, visual, NULL, True);
    return context && glXMakeCurrent(*display, *window, context);
}

static void triangles(int count) {
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < count; i++) {
        glColor3f(i % 3 == 0, i % 3 == 1, i % 3 == 2);
        glVertex2f(-1, -1);
        glVertex2f(1, -1);
        glVertex2f(-1 + 2.0f * i / count, 1);
    }
    glEnd();
}

int main(int arguments, char **argument) {
    (void)argument;
    Display *display = NULL;
    Window window = 0;
    if (arguments > 1 ? !surfaceless_context() : !window_context(&display, &window)) {
        fprintf(stderr, "no OpenGL context\n");
        return 1;
    }
    glEnable(GL_DEBUG_OUTPUT);
    for (int frame = 0; frame < FRAMES; frame++) {
        glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "frame");
        glClear(GL_COLOR_BUFFER_BIT);
        glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 2, -1, frame % 2 ? "odd part, größer" : "even part");
        triangles(3 + 40 * frame);
        glPopDebugGroup();
        glDebugMessageInsert(GL_DEBUG_SOURCE_APPLICATION, GL_DEBUG_TYPE_MARKER, 3, GL_DEBUG_SEVERITY_NOTIFICATION, -1,
                             "drawn");
        glFinish();
        glPopDebugGroup();
        if (display) glXSwapBuffers(display, window);
        usleep(1000);
    }
    // A group that the program never closes.
    glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 4, -1, "left open");
    triangles(1);
    glFinish();
    printf("%s: %s, error %u\n", glGetString(GL_RENDERER), glGetString(GL_VERSION), glGetError());
    return 0;
}
